import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/**
 * Writes a file that only this user may read, and its directory if need be: whole or not at all, and on the disk when it returns.
 * @throws the system's error
 */
export function writePrivately(file: string, text: string): void {
  const temporary = `${file}.${process.pid}`;
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const descriptor = openSync(temporary, 'w', 0o600);
  writeSync(descriptor, text);
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(temporary, file);
}
