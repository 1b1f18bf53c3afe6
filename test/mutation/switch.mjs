import process from 'node:process';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

/** More than the program has mutants. */
const MOST_MUTANTS = 65_536;
/** The environment variable that names the mutant to child processes; threads find what they share under the same name. */
export const SWITCH = 'MUTANT';

/** One for all threads and all realms of this process. */
const shared = getEnvironmentData(SWITCH) ?? new SharedArrayBuffer(4 + MOST_MUTANTS);
setEnvironmentData(SWITCH, shared);

/** One number: that of the mutant that is on, or -1. */
export const chosen = new Int32Array(shared, 0, 1);
/** By number: 1 if the code of a mutant was run. */
export const reached = new Uint8Array(shared, 4);
chosen[0] = Number(process.env[SWITCH] ?? -1);

/** Each mutant in the copied program asks here whether it is on (program.ts): this file becomes a part of that program. @param {number} number */
export function mutant(number) {
  reached[number] = 1;
  return chosen[0] === number;
}
