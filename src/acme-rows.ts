import type { Logger } from 'pino';
import path from 'node:path';
import type { AcmeTexts, ChangedTexts } from './engine/acme/texts.ts';
import type { InstallationKeys } from './installation-keys.ts';
import { sealed, unsealed } from './rules/sealed-text.ts';
import type { LoggedChange } from './schema/writes/logged-changes.ts';
import type { Store } from './store/store.ts';
import type { Transaction } from './store/transaction.ts';

/** Rows that are read together: at its start, a server reads those of all hosts. */
const TOGETHER = 200;

/** What the rows need. */
export interface AcmeRowsParts {
  readonly store: Pick<Store, 'db' | 'transaction'>;
  readonly keys: InstallationKeys;
  readonly log: Logger;
}

/**
 * The files of ACME that all servers of an installation share: rows of the table `SharedFile`, encrypted with the key of the installation. The other servers learn of changes by the log
 * of changes.
 */
export class AcmeRows implements AcmeTexts {
  readonly #parts: AcmeRowsParts;
  readonly #prefix: string;
  /** Files that wait to be read. */
  #waiting = new Map<string, { readonly text: Promise<string | undefined>; readonly settle: (read: Promise<string | undefined>) => void }>();
  #reading = false;

  /** @param directory the name of the directory that would have the files on one server */
  constructor(parts: AcmeRowsParts, directory: string) {
    this.#parts = parts;
    this.#prefix = `acme/${directory}/`;
  }

  /** @throws the error of the database, or that this server has lost the key */
  read(file: string): Promise<string | undefined> {
    const waiting = this.#waiting.get(file);
    if (waiting) return waiting.text;
    const { promise: text, resolve: settle } = withResolvers<string | undefined>();
    this.#waiting.set(file, { text, settle });
    if (!this.#reading) void this.#readAll();
    return text;
  }

  /** Reads what waits, some files at a time, so that other reads are not kept waiting. Does not reject. */
  async #readAll(): Promise<void> {
    this.#reading = true;
    // What is requested in the same iteration of the event loop is read together.
    await new Promise(setImmediate);
    while (this.#waiting.size > 0) {
      const some = [...this.#waiting].slice(0, TOGETHER);
      for (const [file] of some) this.#waiting.delete(file);
      const texts = this.#readSome(some.map(([file]) => file));
      for (const [file, { settle }] of some) settle(texts.then((found) => found.get(file)));
      await texts.catch(() => undefined); // those who wait have the error
    }
    this.#reading = false;
  }

  async #readSome(files: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { store, keys } = this.#parts;
    const rows = await store.db.sharedFile.findMany({ where: { name: { in: files.map((file) => this.#rowOf(file)) } } });
    const texts = new Map<string, string>();
    for (const { name, sealed: text } of rows) {
      const opened = keys.unsealed(name, text);
      // The key may be changed at this moment.
      if (opened === undefined) return store.transaction((tx) => this.#readIn(tx, files));
      texts.set(this.#fileOf(name), opened);
    }
    return texts;
  }

  async list(): Promise<readonly string[]> {
    const rows = await this.#parts.store.db.sharedFile.findMany({ where: { name: { startsWith: this.#prefix } }, select: { name: true } });
    return rows.map(({ name }) => this.#fileOf(name));
  }

  /** @throws the error of the database, or that this server has lost the key */
  async change(files: readonly string[], change: (now: ReadonlyMap<string, string>) => ChangedTexts): Promise<void> {
    const { store, keys } = this.#parts;
    await store.transaction(async (tx): Promise<ChangedTexts> => {
      const changed = change(await this.#readIn(tx, files));
      const key = await keys.keyIn(tx);
      for (const [file, text] of changed) {
        const name = this.#rowOf(file);
        if (text === undefined) {
          await tx.sharedFile.deleteMany({ where: { name } });
          continue;
        }
        const data = { sealed: sealed(key, name, text) };
        await tx.sharedFile.upsert({ where: { name }, create: { name, ...data }, update: data });
      }
      return changed;
    }, { changes: (changed) => namesIn(changed).map((name): LoggedChange => ({ resource: 'acme', name })) });
  }

  /** Reads rows that no other server changes until the transaction ends. What cannot be decrypted is missing. */
  async #readIn(tx: Transaction, files: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { keys, log } = this.#parts;
    const key = await keys.keyIn(tx);
    const rows = files.length === 0 ? [] : await tx.sharedFile.findMany({ where: { name: { in: files.map((file) => this.#rowOf(file)) } } });
    return new Map(rows.flatMap(({ name, sealed: text }): ReadonlyArray<readonly [string, string]> => {
      const opened = unsealed(key, name, text);
      if (opened !== undefined) return [[this.#fileOf(name), opened]];
      log.error({ row: name }, 'an ACME file in the database was changed by a program that lacks the key of the installation, and is created again');
      return [];
    }));
  }

  #rowOf(file: string): string {
    return `${this.#prefix}${file}`;
  }

  #fileOf(row: string): string {
    return row.slice(this.#prefix.length);
  }
}

/** The names whose certificate or failed orders are in changed files. Those of a host have a dot; other files are of interest to the server that orders only. */
function namesIn(changed: ChangedTexts): string[] {
  return [...new Set(Array.from(changed.keys(), (file) => path.parse(file).name))].filter((name) => name.includes('.'));
}

/** Node 20 has no Promise.withResolvers. */
function withResolvers<T>(): { readonly promise: Promise<T>; readonly resolve: (value: Promise<T>) => void } {
  let resolve: (value: Promise<T>) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
