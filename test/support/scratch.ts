import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';

const directories = new Set<string>();
// Under jest suites call it.
if (process.env['JEST_WORKER_ID'] === undefined) process.on('exit', removeScratchDirectories);

/** A fresh directory, for programs that run beside this one. */
export function scratchDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'adit-process-'));
  directories.add(directory);
  return directory;
}

/** Removes every directory that `scratchDirectory` made. The programs that use them must have ended. */
export function removeScratchDirectories(): void {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  directories.clear();
}
