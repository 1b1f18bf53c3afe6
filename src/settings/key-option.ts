import { readFileSync } from 'node:fs';

/** A secret for starting a program, and the ways to pass it. */
export interface KeyOption {
  /** Its name in messages: "key". */
  readonly what: string;
  /** `--vkey`; the flag for a file is `--vkey-file`. */
  readonly flag: string;
  /** ADIT_VKEY; the variable for a file is ADIT_VKEY_FILE. */
  readonly variable: string;
  /** The values of the two flags. */
  readonly value: string | undefined;
  readonly file: string | undefined;
}

/**
 * Reads a key from a flag, a file or the environment. (Every user of the machine can read the flags of a running program.) Flags override
 * the environment. Each of the two may provide the key only once.
 * @param problems receives the problems @returns undefined = there is a problem
 */
export function readKeyOption(option: KeyOption, environment: NodeJS.ProcessEnv, problems: string[]): string | undefined {
  const { what, flag, variable, value, file } = option;
  const places = [
    { key: flag, value, keyFile: `${flag}-file`, file },
    { key: variable, value: environment[variable], keyFile: `${variable}_FILE`, file: environment[`${variable}_FILE`] },
  ];
  const place = places.find(({ value, file }) => value !== undefined || file !== undefined);
  if (place === undefined) {
    problems.push(`the ${what} is missing: give ${flag} ${what.toUpperCase()} or ${flag}-file FILE, or set ${variable} or ${variable}_FILE`);
    return undefined;
  }
  if (place.value !== undefined && place.file !== undefined) {
    problems.push(`${place.keyFile}: must not be given together with ${place.key}`);
    return undefined;
  }
  try {
    const key = place.file === undefined ? place.value : readFileSync(place.file, 'utf8').trim();
    if (key !== undefined && key !== '') return key;
    problems.push(`${place.file === undefined ? place.key : place.keyFile}: the ${what} must not be empty`);
  } catch (error) {
    problems.push(`${place.keyFile}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return undefined;
}
