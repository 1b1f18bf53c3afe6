import { generatedSecrets, generateSecrets, secretsFile, storedSecrets, type GeneratedSecret, type StoredSecrets } from './secrets.ts';
import { settingsSchema, type SettingName, type Settings } from './settings.ts';
import { environmentSource, fileSource, flagsSource, readSource, SettingsError, type Source } from './sources.ts';
import { withoutWeakKeys } from './weak-keys.ts';

/** What a start is given. */
export interface SettingsInput {
  /** Flags by their name (`--http-port`). */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly environment?: NodeJS.ProcessEnv;
  /** The settings file; undefined = adit.toml in the working directory, if there is one. */
  readonly configFile?: string | undefined;
}

/** The settings of a start, and what is to be said about them. */
export interface LoadedSettings {
  readonly settings: Settings;
  /** Secrets that were generated just now, to be shown this once. */
  readonly generated: StoredSecrets;
  /** What the log has to say about the settings, such as that signed calls are off. */
  readonly notices: readonly string[];
}

/** The settings as they stand before a start. */
export interface ReadSettings {
  /** The secrets in `missing` are "". */
  readonly settings: Settings;
  /** Where a value comes from; what isn't in it has its default. */
  readonly origins: ReadonlyMap<SettingName, string>;
  /** Secrets that nobody gave and no earlier start generated. */
  readonly missing: readonly GeneratedSecret[];
}

/**
 * Reads every setting: flags go before environment before file before the secrets of the first start before defaults.
 * Changes nothing.
 * @throws {SettingsError} with all problems: unknown names and bad values, also those that another source overrides
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
  // Every value was checked on its own; a missing password is the one that its own schema would refuse.
  return { settings: { ...settingsSchema.omit({ adminPassword: true }).parse(given), adminPassword: String(given.adminPassword) }, origins, missing };
}

/** In rising precedence. A file that can't be read is a problem like the others. */
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
 * The settings for a start. Secrets that nobody gave are generated and stored in the data directory.
 * @throws {SettingsError} see `readSettings`
 */
export function loadSettings(input: SettingsInput): LoadedSettings {
  const { settings, missing } = readSettings(input);
  const generated = missing.length > 0 ? generateSecrets(settings.dataDir, missing) : {};
  return { ...withoutWeakKeys({ ...settings, ...generated }), generated };
}
