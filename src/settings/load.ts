import { generatedSecrets, generateSecrets, secretsFile, storedSecrets, type GeneratedSecret, type StoredSecrets } from './secrets.ts';
import { settingsSchema, type SettingName, type Settings } from './settings.ts';
import { environmentSource, fileSource, flagsSource, readSource, SettingsError, type Source } from './sources.ts';
import { withoutWeakKeys } from './weak-keys.ts';

/** The sources of the settings. */
export interface SettingsInput {
  /** Flags by their name (`--http-port`). */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly environment?: NodeJS.ProcessEnv;
  /** The settings file; undefined = adit.toml in the working directory, if there is one. */
  readonly configFile?: string | undefined;
}

/** The settings of a server, ready to start. */
export interface LoadedSettings {
  readonly settings: Settings;
  /** Secrets that were just generated, to be shown once. */
  readonly generated: StoredSecrets;
  /** Log messages about the settings, for example that signed calls are off. */
  readonly notices: readonly string[];
}

/** The settings as read, before secrets are generated. */
export interface ReadSettings {
  /** The secrets listed in `missing` are "". */
  readonly settings: Settings;
  /** The source of each value; settings that are not in it have their default. */
  readonly origins: ReadonlyMap<SettingName, string>;
  /** Secrets that are not set and that no earlier start has generated. */
  readonly missing: readonly GeneratedSecret[];
}

/**
 * Reads every setting. Precedence: flags, environment, file, stored secrets of the first start, defaults. Changes nothing.
 * @throws {SettingsError} with all problems: unknown names and invalid values, including those that another source overrides
 */
export function readSettings(input: SettingsInput): ReadSettings {
  const problems: string[] = [];
  const given: Partial<Record<SettingName, unknown>> = {};
  const origins = new Map<SettingName, string>();
  for (const source of sourcesOf(input, problems)) {
    for (const { name, value, origin } of readSource(source, problems)) {
      given[name] = value;
      origins.set(name, origin);
    }
  }
  if (problems.length > 0) throw new SettingsError(problems);

  const dataDir = settingsSchema.shape.dataDir.parse(given.dataDir);
  const stored = storedSecrets(dataDir);
  const missing = generatedSecrets.filter((name) => given[name] === undefined && stored[name] === undefined);
  for (const name of generatedSecrets) {
    if (given[name] === undefined && stored[name] !== undefined) origins.set(name, secretsFile(dataDir));
    given[name] ??= stored[name] ?? '';
  }
  // Every value was checked separately; only a missing password would fail its own schema.
  return { settings: { ...settingsSchema.omit({ adminPassword: true }).parse(given), adminPassword: String(given.adminPassword) }, origins, missing };
}

/** In order of increasing precedence. A file that can't be read is reported like other problems. */
function sourcesOf({ flags = {}, environment = {}, configFile }: SettingsInput, problems: string[]): Source[] {
  const others = [environmentSource(environment), flagsSource(flags)];
  try {
    return [fileSource(configFile), ...others];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    problems.push(...error.problems);
    return others;
  }
}

/**
 * The settings for a start. Secrets that are not set are generated and stored in the data directory.
 * @throws {SettingsError} see `readSettings`
 */
export function loadSettings(input: SettingsInput): LoadedSettings {
  const { settings, missing } = readSettings(input);
  const generated = missing.length > 0 ? generateSecrets(settings.dataDir, missing) : {};
  return { ...withoutWeakKeys({ ...settings, ...generated }), generated };
}
