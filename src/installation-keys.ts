import { createHmac, randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { sealed, unsealed } from './rules/sealed-text.ts';
import { auditEntry } from './schema/audit/rules.ts';
import type { Change } from './schema/writes/changes.ts';
import { loggedOf } from './schema/writes/logged-changes.ts';
import {
  INSTALLATION_KEY_BYTES,
  installationKeyFile,
  keepInstallationKey,
  keepNextInstallationKey,
  keptInstallationKeys,
  useNextInstallationKey,
} from './settings/installation-key.ts';
import { SettingsError } from './settings/settings-error.ts';
import type { Store } from './store/store.ts';
import type { Transaction } from './store/transaction.ts';

/** The row by which a server recognizes the key of the installation. */
const CHECK = 'installation';
/** The row of the key that replaces it, while the servers take it. */
const NEXT = 'next-key';
/** The row by which a server says that it has taken it: this, and its name. */
const TAKEN = 'next-key-taken/';
/** Rows that are encrypted with another key at a time: there may be a certificate for each host. */
const TOGETHER = 200;

/** Where the keys are. */
export interface InstallationKeysParts {
  readonly store: Store;
  readonly dataDir: string;
  /** What `adit nodes invite` printed; "" = none. */
  readonly invitation: string;
  readonly log: Logger;
}

/** The key was changed while this server could not follow. */
export class KeyLostError extends SettingsError {
  constructor(dataDir: string) {
    super([
      `${
        installationKeyFile(dataDir)
      }: the key of the installation was changed ("adit nodes rotate-key") while this server was stopped or could not reach the database: `
      + 'this server needs a new invitation: set ADIT_INVITATION to what "adit nodes invite" prints on another server',
    ]);
  }
}

/**
 * The key of the installation, with which its servers encrypt what they share, and recognize each other. It can be changed while they run: the database has the next key, encrypted with the current one,
 * until all servers that are alive have taken it. Then what they share is encrypted with it, in one transaction.
 */
export class InstallationKeys {
  readonly #parts: InstallationKeysParts;
  #current: Buffer;
  #next: Buffer | undefined;

  private constructor(parts: InstallationKeysParts, current: Buffer) {
    this.#parts = parts;
    this.#current = current;
  }

  /**
   * Finds the key. The first server on a database creates it.
   * @throws {SettingsError} if the key can't be read or kept, or if the database belongs to an installation of which this server has no key
   */
  static async open(parts: InstallationKeysParts): Promise<InstallationKeys> {
    const { store, dataDir, invitation } = parts;
    const known = keptInstallationKeys(dataDir, invitation);
    const current = await store.transaction(async (tx) => {
      const check = await tx.sharedFile.findUnique({ where: { name: CHECK } });
      if (check !== null) return known.find((key) => unsealed(key, CHECK, check.sealed) !== undefined);
      const key = known[0] ?? randomBytes(INSTALLATION_KEY_BYTES);
      if (known.length === 0) keepInstallationKey(dataDir, key);
      await tx.sharedFile.create({ data: { name: CHECK, sealed: sealed(key, CHECK, '') } });
      return key;
    });
    if (current === undefined) {
      throw new SettingsError([
        known.length === 0
          ? `the database belongs to an installation whose key this server lacks: ${remedy}`
          : `${
            installationKeyFile(dataDir)
          }: this is not the key of the installation that the database belongs to, or no longer: it may have been changed while this server was stopped: ${remedy}`,
      ]);
    }
    keepInstallationKey(dataDir, current);
    const keys = new InstallationKeys(parts, current);
    await keys.follow();
    return keys;
  }

  /** The secrets by which the servers of the installation recognize each other: the current one, and the one that replaces it, if the key is being changed. */
  get links(): { readonly current: string; readonly next: string | undefined } {
    return { current: linkSecretOf(this.#current), next: this.#next && linkSecretOf(this.#next) };
  }

  /** The key that the database is encrypted with, until the transaction ends. @throws {KeyLostError} if this server does not have it */
  async keyIn(tx: Transaction): Promise<Buffer> {
    const [check] = await tx.$queryRaw<Array<{ readonly sealed: string }>>`SELECT sealed FROM "SharedFile" WHERE name = ${CHECK} FOR UPDATE`;
    const key = [this.#current, this.#next].find((each) => each && check && unsealed(each, CHECK, check.sealed) !== undefined);
    if (!key) throw new KeyLostError(this.#parts.dataDir);
    return key;
  }

  /** Decrypts what was read outside of a transaction. @returns undefined = it was encrypted with a key that this server does not have, or has just replaced: {@link keyIn} tells */
  unsealed(name: string, text: string): string | undefined {
    return unsealed(this.#current, name, text) ?? (this.#next && unsealed(this.#next, name, text));
  }

  /** Begins to change the key, unless that has begun already. */
  async begin(): Promise<void> {
    await this.#parts.store.transaction(async (tx): Promise<Change[]> => {
      const key = await this.keyIn(tx);
      if (await tx.sharedFile.findUnique({ where: { name: NEXT } }) !== null) return [];
      await tx.sharedFile.create({ data: { name: NEXT, sealed: sealed(key, NEXT, randomBytes(INSTALLATION_KEY_BYTES).toString('base64url')) } });
      const [before, after] = [{ id: 'installation', changing: false }, { id: 'installation', changing: true }] as const;
      return [{ resource: 'installationKey', action: 'update', before, after, caller: { kind: 'server' }, at: new Date() }];
    }, { entries: (changes) => changes.map(auditEntry), changes: (changes) => changes.map(loggedOf) });
  }

  /**
   * Does what this server has to do for a change of the key: takes the next one, or uses it from now on.
   * @param node the name of this server, which the others wait for; absent = they don't
   * @returns the servers that have not taken the next key yet; undefined = the key is not being changed
   * @throws {KeyLostError} if it was changed without this server
   */
  async follow(node?: string): Promise<readonly string[] | undefined> {
    const { store, dataDir, log } = this.#parts;
    const rows = await store.db.sharedFile.findMany({ where: { name: { in: [CHECK, NEXT] } } });
    const read = (name: string, key: Buffer | undefined) => {
      const row = rows.find((each) => each.name === name);
      return key && row && unsealed(key, name, row.sealed);
    };
    if (read(CHECK, this.#current) === undefined) {
      if (this.#next === undefined || read(CHECK, this.#next) === undefined) throw new KeyLostError(dataDir);
      useNextInstallationKey(dataDir, this.#next);
      this.#current = this.#next;
      this.#next = undefined;
      log.info('the key of the installation was changed');
      return undefined;
    }
    const offered = read(NEXT, this.#current);
    if (offered === undefined) return undefined;
    const next = Buffer.from(offered, 'base64url');
    if (this.#next?.equals(next) !== true) {
      keepNextInstallationKey(dataDir, next);
      this.#next = next;
      log.info('the key of the installation is being changed: this server accepts both');
    }
    const alive = (await store.nodes()).flatMap((each) => each.alive ? [each.name] : []);
    const missing = await store.transaction((tx) => this.#take(tx, next, alive, node), { long: true });
    return missing.length > 0 ? missing : this.follow(node);
  }

  /** Says that this server has the next key. When all servers have it, encrypts everything with it. @returns those that have not */
  async #take(tx: Transaction, next: Buffer, alive: readonly string[], node: string | undefined): Promise<readonly string[]> {
    const current = await this.keyIn(tx);
    if (current.equals(next)) return [];
    if (node !== undefined) {
      const name = `${TAKEN}${node}`;
      const data = { name, sealed: sealed(next, name, '') };
      await tx.sharedFile.upsert({ where: { name }, create: data, update: data });
    }
    const rows = await tx.sharedFile.findMany({ where: { name: { startsWith: TAKEN } } });
    const missing = alive.filter((each) => !rows.some(({ name, sealed: text }) => name === `${TAKEN}${each}` && unsealed(next, name, text) !== undefined));
    if (missing.length > 0) return missing;
    await tx.sharedFile.deleteMany({ where: { OR: [{ name: NEXT }, { name: { startsWith: TAKEN } }] } });
    const names = await tx.sharedFile.findMany({ select: { name: true } });
    for (let start = 0; start < names.length; start += TOGETHER) {
      await sealAgain(tx, names.slice(start, start + TOGETHER).map(({ name }) => name), current, next);
    }
    return [];
  }
}

/** Encrypts rows with the next key. */
async function sealAgain(tx: Transaction, names: string[], current: Buffer, next: Buffer): Promise<void> {
  const again = (await tx.sharedFile.findMany({ where: { name: { in: names } } })).map(({ name, sealed: text }) => {
    const content = unsealed(current, name, text);
    if (content === undefined) throw new Error(`the row ${name} of the table "SharedFile" was changed by a program that lacks the key of the installation`);
    return { name, sealed: sealed(next, name, content) };
  });
  await tx.$executeRaw`UPDATE "SharedFile" SET sealed = again.sealed
    FROM unnest(${again.map(({ name }) => name)}::text[], ${
    again.map((row) => row.sealed)
  }::text[]) AS again (name, sealed) WHERE "SharedFile".name = again.name`;
}

function linkSecretOf(key: Buffer): string {
  return createHmac('sha256', key).update('adit sessions between servers').digest('hex');
}

const remedy = 'set ADIT_INVITATION to what "adit nodes invite" prints on another server, or start with the data directory that this one had before; '
  + 'if the key is lost, delete all rows of the table "SharedFile": the secrets are generated again, and agents that pin the certificate need its new fingerprint';
