import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import * as z from 'zod';
import type { InstallationKeys } from './installation-keys.ts';
import { sealed, unsealed } from './rules/sealed-text.ts';
import { BRIDGE_FILE } from './settings/bridge-identity.ts';
import { keepPrivately } from './settings/private-file.ts';
import { SECRETS_FILE } from './settings/secrets.ts';
import { SettingsError } from './settings/settings-error.ts';
import { isMissing } from './settings/sources.ts';
import type { Store } from './store/store.ts';
import type { Transaction } from './store/transaction.ts';

/** The files that the first start creates. */
export const firstStartFiles: readonly string[] = [SECRETS_FILE, BRIDGE_FILE];

/** The file of the hashes of what data directory and database last had in common, so that a file that was edited while the server was stopped counts as changed. */
const STATE_FILE = 'shared-files.json';
const stateSchema = z.record(z.string(), z.string());

/** What the files are shared with. */
export interface SharedFilesParts {
  readonly store: Store;
  readonly dataDir: string;
  readonly keys: InstallationKeys;
  readonly log: Logger;
}

/**
 * Files in the data directory that all servers of an installation have in common: the secrets of the first start, the certificate of the bridge, and the
 * secret of TLS session tickets. They are stored in the PostgreSQL database, encrypted with a key that only the servers have. The rest of the
 * program reads the files.
 */
export class SharedFiles {
  readonly #parts: SharedFilesParts;
  /** The hash of what each file and the database last had in common, by the file's name. */
  readonly #common: Map<string, string>;

  private constructor(parts: SharedFilesParts, common: Map<string, string>) {
    this.#parts = parts;
    this.#common = common;
  }

  /** @throws the error of the file that says what both had in common */
  static async open(parts: SharedFilesParts): Promise<SharedFiles> {
    return new SharedFiles(parts, new Map(Object.entries(stateOf(await contentOf(path.join(parts.dataDir, STATE_FILE))))));
  }

  /**
   * Makes files and database agree. The one that has changed since the last time counts; the first time, and if both have changed, the database. A
   * missing file is restored.
   * @throws {SettingsError} if a row was written without the key
   * @throws the error of the database or of a file; a file is never left half written
   */
  async synchronize(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const common = await this.#parts.store.transaction((tx) => this.#synchronizeOne(tx, name));
      if (common === undefined || this.#common.get(name) === common) continue;
      this.#common.set(name, common);
      await keepPrivately(path.join(this.#parts.dataDir, STATE_FILE), `${JSON.stringify(Object.fromEntries(this.#common))}\n`);
    }
  }

  /** @returns the hash of what both have now; undefined = neither has anything */
  async #synchronizeOne(tx: Transaction, name: string): Promise<string | undefined> {
    const { dataDir, keys, log } = this.#parts;
    const key = await keys.keyIn(tx);
    const file = path.join(dataDir, name);
    const [here, row] = await Promise.all([contentOf(file), tx.sharedFile.findUnique({ where: { name } })]);
    const stored = row === null ? undefined : unsealed(key, name, row.sealed);
    if (row !== null && stored === undefined) {
      throw new SettingsError([
        `the shared file ${name} in the database was changed by a program that lacks the key of the installation: delete its row in the table "SharedFile", so that the file of this server is stored again`,
      ]);
    }
    if (here === stored) return here === undefined ? undefined : hashOf(here);
    if (stored !== undefined && (here === undefined || hashOf(stored) !== this.#common.get(name))) {
      await keepPrivately(file, stored);
      if (here !== undefined) log.warn({ file }, 'the file was replaced by that of the installation');
      return hashOf(stored);
    }
    if (here === undefined) return undefined;
    const data = { sealed: sealed(key, name, here) };
    await tx.sharedFile.upsert({ where: { name }, create: { name, ...data }, update: data });
    return hashOf(here);
  }
}

function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}

/** {} = the file is missing or damaged: then the database counts. */
function stateOf(text: string | undefined): Record<string, string> {
  try {
    return stateSchema.parse(JSON.parse(text ?? '{}'));
  } catch {
    return {};
  }
}

async function contentOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
