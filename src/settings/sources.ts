import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { SettingsError } from './settings-error.ts';
import { environmentName, fileKey, flagName, infoOf, settingNames, settingsSchema, type SettingName } from './settings.ts';

/** A source of settings, with its values in its own spelling. */
export interface Source {
  /** Its name in messages. */
  readonly label: string;
  /** Converts a setting's name to the spelling of this source. */
  readonly spell: (name: string) => string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** `ADIT_` variables that are not settings of the server: the agent's key and directory, and those that the tests use. */
const otherVariables = new Set(['ADIT_VKEY', 'ADIT_VKEY_FILE', 'ADIT_RUNTIME_DIR', 'ADIT_REQUIRE_PROGRAMS']);

/** Flags, in the form `--http-port`. */
export function flagsSource(values: Readonly<Record<string, unknown>>): Source {
  return { label: 'command line', spell: flagName, values };
}

/** The variables of an environment that begin with `ADIT_`. */
export function environmentSource(environment: NodeJS.ProcessEnv): Source {
  const ours = Object.entries(environment).filter(([name]) => name.startsWith('ADIT_') && !otherVariables.has(name));
  return { label: 'environment', spell: environmentName, values: Object.fromEntries(ours) };
}

/**
 * The settings file: the named one, or else `adit.toml` in the working directory if it exists.
 * @throws {SettingsError} if the named file is missing, or the file can't be read or isn't TOML
 */
export function fileSource(named: string | undefined): Source {
  const file = path.resolve(named ?? 'adit.toml');
  const source = (values: Record<string, unknown>) => ({ label: file, spell: fileKey, values });
  try {
    return source(parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if (error instanceof TomlError) {
      // Only the first line: the others quote the file, which may contain secrets.
      throw new SettingsError([`line ${error.line}, column ${error.column}: ${error.message.split('\n')[0]} (${file})`]);
    }
    if (named === undefined && isMissing(error)) return source({});
    throw new SettingsError([`--config: ${error instanceof Error ? error.message : String(error)} (command line)`]);
  }
}

/** Whether a file operation failed because there is no such file. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** The value of a setting in a source. */
export interface GivenValue {
  readonly name: SettingName;
  readonly value: unknown;
  /** Where it was set, as text for messages. */
  readonly origin: string;
}

/**
 * The valid settings of a source. Everything else is added to `problems` as a line that names the
 * setting in the spelling of the source, the problem, and the source, and never shows a secret.
 */
export function readSource(source: Source, problems: string[]): GivenValue[] {
  const given: GivenValue[] = [];
  const unknown = new Set(Object.keys(source.values));
  const complain = (spelled: string, problem: string) => problems.push(`${spelled}: ${problem} (${source.label})`);
  for (const name of settingNames) {
    const { secret = false } = infoOf(name);
    let spelled = source.spell(name);
    let value = source.values[spelled];
    unknown.delete(spelled);
    if (secret) {
      const spelledFile = source.spell(`${name}File`);
      const file = source.values[spelledFile];
      unknown.delete(spelledFile);
      if (file !== undefined && value !== undefined) complain(spelledFile, `must not be given together with ${spelled}`);
      else if (file !== undefined) {
        value = secretFromFile(file, (problem) => complain(spelledFile, problem));
        spelled = spelledFile;
      }
    }
    if (value === undefined) continue;
    const checked = settingsSchema.shape[name].safeParse(value);
    if (checked.success) given.push({ name, value, origin: `${spelled} (${source.label})` });
    else complain(spelled, checked.error.issues.map(({ message }) => message).join(', ') + (secret ? '' : `, not ${excerpt(value)}`));
  }
  for (const spelled of unknown) complain(spelled, 'unknown setting; "adit server --help" lists them');
  return given;
}

/** The content of a secret's file without the final line break that editors add; undefined = problem reported. */
function secretFromFile(file: unknown, complain: (problem: string) => void): string | undefined {
  if (typeof file !== 'string') {
    complain('must be the name of a file');
    return undefined;
  }
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

function excerpt(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}
