import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';

/** Changed files and their texts; undefined = the file is deleted. */
export type ChangedTexts = ReadonlyMap<string, string | undefined>;

/** Where the files of ACME are kept: a directory, or the database of the installation. */
export interface AcmeTexts {
  /** undefined = there is no such file */
  read(file: string): Promise<string | undefined>;
  /** The names of all files. */
  list(): Promise<readonly string[]>;
  /**
   * Changes files together. Nobody else changes them meanwhile.
   * @param change gets those of the named files that there are; called once @throws the error of the disk or of the database
   */
  change(files: readonly string[], change: (now: ReadonlyMap<string, string>) => ChangedTexts): Promise<void>;
}

/** How files of ACME are written to a directory. */
export interface AcmeDirectoryOptions {
  readonly dir: string;
  /** Writes a file atomically, readable by this user only. */
  readonly write: (file: string, text: string) => void | Promise<void>;
}

/** Files in a directory of this server. */
export class AcmeDirectory implements AcmeTexts {
  readonly #dir: string;
  readonly #write: AcmeDirectoryOptions['write'];
  readonly #log: Logger;

  constructor({ dir, write }: AcmeDirectoryOptions, log: Logger) {
    this.#dir = dir;
    this.#write = write;
    this.#log = log;
  }

  /** The path of a file, which may not exist. */
  pathOf(file: string): string {
    return path.join(this.#dir, file);
  }

  async read(file: string): Promise<string | undefined> {
    try {
      return await readFile(this.pathOf(file), 'utf8');
    } catch (error) {
      if (!isMissing(error)) this.#log.error({ file, err: error }, 'an ACME file cannot be read, and is created again');
      return undefined;
    }
  }

  async list(): Promise<readonly string[]> {
    try {
      return await readdir(this.#dir);
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  async change(files: readonly string[], change: (now: ReadonlyMap<string, string>) => ChangedTexts): Promise<void> {
    const now = new Map<string, string>();
    for (const file of files) {
      const text = await this.read(file);
      if (text !== undefined) now.set(file, text);
    }
    for (const [file, text] of change(now)) {
      if (text === undefined) await rm(this.pathOf(file), { force: true });
      else await this.#write(this.pathOf(file), text);
    }
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
