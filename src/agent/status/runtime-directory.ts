import { lstatSync, mkdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';

/** Where the sockets of this user's agents are, and what they remember until the next boot: `ADIT_RUNTIME_DIR`, or `adit` below XDG_RUNTIME_DIR, or a directory of the user's own in the temporary one. */
export function runtimeDirectory(environment: NodeJS.ProcessEnv): string {
  const { ADIT_RUNTIME_DIR: own, XDG_RUNTIME_DIR: runtime } = environment;
  if (own) return own;
  return runtime ? path.join(runtime, 'adit') : path.join(os.tmpdir(), `adit-${process.getuid?.() ?? os.userInfo().username}`);
}

/**
 * Creates the directory, accessible to this user only.
 * @throws {Error} when another user has made it, which is possible in a temporary directory
 */
export function makeRuntimeDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (process.getuid === undefined) return;
  const { uid, mode } = lstatSync(directory);
  if (uid !== process.getuid() || (mode & 0o077) !== 0) throw new Error(`${directory} is not this user's alone`);
}
