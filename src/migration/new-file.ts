import { writeFileSync } from 'node:fs';

/** A file that can't be written, or read. The message is for the operator. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError';
}

/** Writes a file that only this user may read, since it may contain secrets; never over an existing file. @throws {ConversionError} */
export function writeNewFile(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw new ConversionError(exists ? `${file} exists already: remove it, or name another file` : error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}
