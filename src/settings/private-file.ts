import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';

/**
 * Atomically writes a file that only this user may read, and creates its directory if necessary. The file is on disk when this returns.
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

/** Asynchronous variant, for files that are written while the server runs. @throws the system's error */
export async function keepPrivately(file: string, text: string): Promise<void> {
  const temporary = `${file}.${process.pid}`;
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}
