import { hash } from 'node:crypto';
import path from 'node:path';
import type { Logger } from 'pino';
import * as z from 'zod';
import { CertificateFault, type CertificateFacts, certificatePair, coversHost } from '../../rules/certificate.ts';
import { type AcmeOrders, currentOrders, NO_ORDERS, ordersSchema } from './orders.ts';
import { AcmeDirectory, type AcmeDirectoryOptions, type AcmeTexts } from './texts.ts';

const accountSchema = z.object({ key: z.string(), url: z.url() });
const attemptSchema = z.object({
  failures: z.int().min(0),
  problem: z.string(),
  /** Version 0.1 did not store it. */
  lastAt: z.number().optional(),
  nextAt: z.number(),
  retries: z.array(z.number()).optional(),
  ordering: z.object({ failures: z.int(), problem: z.string() }).optional(),
});

/** The account at the directory: its key as PEM, never shown or logged, and its URL. */
export type AcmeAccount = z.output<typeof accountSchema>;
/**
 * The failed orders of a name since its last certificate. `lastAt`: when the last one began; `nextAt`: when the next one is due; `retries`: when attempts were requested within the last
 * hour; all in ms since the epoch. `ordering`: an order is in progress, and this was so before it began; only stored for other servers.
 */
export type AcmeAttempt = z.output<typeof attemptSchema>;

const ACCOUNT = 'account.json';
/** What all orders have in common. Only kept where several servers share it. */
const ORDERS = 'orders.json';
/** Files of this server that are shared together. */
const TOGETHER = 50;

/** Where the files of ACME are kept. */
export interface AcmeKeeping extends AcmeDirectoryOptions {
  /** What the servers of an installation share; absent = this is the only server. */
  readonly shared?: AcmeShared | undefined;
}

/** What the servers of an installation share. */
interface AcmeShared {
  /** @param directory the name of the directory that would have the files on one server */
  readonly texts: (directory: string) => AcmeTexts;
  /** Whether this is the server that orders. It may be wrong for a moment. */
  readonly leads: () => boolean;
}

/** What is kept for the orders of a name. */
export interface KeptOrders {
  /** undefined = there is no usable certificate */
  readonly facts: CertificateFacts | undefined;
  /** undefined = the last order did not fail */
  readonly attempt: AcmeAttempt | undefined;
  /** undefined = it is not kept, since this is the only server */
  readonly orders: AcmeOrders | undefined;
}

/** What of it changes; left out = nothing. */
export interface ChangedOrders {
  /** PEM of key and chain. */
  readonly certificate?: string;
  /** undefined = it is deleted */
  readonly attempt?: AcmeAttempt | undefined;
  readonly orders?: AcmeOrders | undefined;
}

/** The path of the file with the certificate and key of a name; it may not exist yet. @param directory of the authority */
export function certificateFile({ dir }: Pick<AcmeKeeping, 'dir'>, directory: string, name: string): string {
  return path.join(dir, subdirectoryOf(directory), pemOf(name));
}

/**
 * The files for one ACME directory: the account, NAME.pem with key and chain for each name, and NAME.json while its orders fail. Each ACME directory
 * has its own files, so that a change of the setting does not mix them. Several servers share all of them; each has copies of the certificates in its data directory, where the
 * rest of the program reads them.
 */
export class AcmeFiles {
  readonly #own: AcmeDirectory;
  readonly #texts: AcmeTexts;
  readonly #log: Logger;
  /** The last copy of a certificate that is being written, by name. */
  readonly #copying = new Map<string, Promise<void>>();

  constructor({ dir, write, shared }: AcmeKeeping, directory: string, log: Logger) {
    const name = subdirectoryOf(directory);
    this.#own = new AcmeDirectory({ dir: path.join(dir, name), write }, log);
    this.#texts = shared?.texts(name) ?? this.#own;
    this.#log = log;
  }

  get #isShared(): boolean {
    return this.#texts !== this.#own;
  }

  async account(): Promise<AcmeAccount | undefined> {
    return this.#parsed(ACCOUNT, await this.#texts.read(ACCOUNT), accountSchema);
  }

  async saveAccount(account: AcmeAccount): Promise<void> {
    await this.#texts.change([], () => new Map([[ACCOUNT, JSON.stringify(account)]]));
  }

  async forgetAccount(): Promise<void> {
    await this.#texts.change([], () => new Map([[ACCOUNT, undefined]]));
  }

  /** Key and chain of a name, in one file. */
  certificateFile(name: string): string {
    return this.#own.pathOf(pemOf(name));
  }

  /** What is kept for the orders of a name. `copy` makes its certificate a file of this server; of several calls, the last one counts. */
  async kept(name: string): Promise<Omit<KeptOrders, 'orders'> & { readonly copy: () => Promise<void> }> {
    const [pem, attempt] = await Promise.all([this.#texts.read(pemOf(name)), this.#texts.read(jsonOf(name))]);
    const facts = this.#certificate(name, pem);
    return {
      facts,
      attempt: this.#parsed(jsonOf(name), attempt, attemptSchema),
      copy: async () => {
        if (pem !== undefined && facts) await this.#copy(name, pem);
      },
    };
  }

  /** What all orders have in common. */
  async orders(): Promise<AcmeOrders> {
    return this.#isShared ? this.#parsed(ORDERS, await this.#texts.read(ORDERS), ordersSchema) ?? NO_ORDERS : NO_ORDERS;
  }

  /**
   * Changes what is kept for the orders of a name. No other server changes it meanwhile.
   * @param now ms since the epoch @param change undefined = nothing changes @returns what has changed
   */
  async update(name: string, now: number, change: (kept: KeptOrders) => ChangedOrders | undefined): Promise<ChangedOrders | undefined> {
    const done: { changed?: ChangedOrders | undefined } = {};
    const [pem, json] = [pemOf(name), jsonOf(name)];
    await this.#texts.change([pem, json, ...this.#isShared ? [ORDERS] : []], (texts) => {
      done.changed = change({
        facts: this.#certificate(name, texts.get(pem)),
        attempt: this.#parsed(json, texts.get(json), attemptSchema),
        orders: this.#isShared ? currentOrders(this.#parsed(ORDERS, texts.get(ORDERS), ordersSchema) ?? NO_ORDERS, now) : undefined,
      });
      const { certificate, orders, ...others } = done.changed ?? {};
      const changed = new Map<string, string | undefined>();
      if (certificate !== undefined) changed.set(pem, certificate);
      // A single server remembers by itself that it orders.
      if ('attempt' in others) {
        changed.set(json, others.attempt && JSON.stringify(this.#isShared ? others.attempt : { ...others.attempt, ordering: undefined }));
      }
      if (orders && this.#isShared) changed.set(ORDERS, JSON.stringify(orders));
      return changed;
    });
    const { certificate } = done.changed ?? {};
    if (certificate !== undefined) await this.#copy(name, certificate);
    return done.changed;
  }

  /** Shares the files of this server, except those that are shared already. From then on, it only has copies of certificates. */
  async share(): Promise<void> {
    if (!this.#isShared) return;
    const shared = new Set(await this.#texts.list());
    const own = await this.#own.list();
    const added = own.filter((file) => !shared.has(file));
    for (let start = 0; start < added.length; start += TOGETHER) await this.#shareSome(added.slice(start, start + TOGETHER));
    const attempts = own.filter((file) => file !== ACCOUNT && path.extname(file) === '.json');
    if (attempts.length > 0) await this.#own.change([], () => new Map(attempts.map((file) => [file, undefined])));
  }

  async #shareSome(files: readonly string[]): Promise<void> {
    const texts = new Map<string, string>();
    for (const file of files) {
      const text = await this.#own.read(file);
      if (text !== undefined && this.#isUsable(file, text)) texts.set(file, text);
    }
    await this.#texts.change([...texts.keys()], (now) => new Map(Array.from(texts).filter(([file]) => !now.has(file))));
  }

  #isUsable(file: string, text: string): boolean {
    const { name, ext } = path.parse(file);
    if (ext === '.pem') return (this.#certificate(name, text)?.validTo.getTime() ?? 0) > Date.now();
    return ext === '.json' && this.#parsed<unknown>(file, text, file === ACCOUNT ? accountSchema : attemptSchema) !== undefined;
  }

  /**
   * Deletes what is obsolete: certificates that have expired, and attempts whose wait is over.
   * @param all also what the servers share; otherwise only this server's own copies
   */
  async sweep(wanted: (name: string) => boolean, now: number, all: boolean): Promise<void> {
    for (const texts of new Set([...all ? [this.#texts] : [], this.#own])) {
      for (const file of await texts.list()) {
        const { name, ext } = path.parse(file);
        if (file === ACCOUNT || file === ORDERS || wanted(name)) continue;
        const isObsolete = (text: string | undefined): boolean =>
          ext === '.pem'
            ? (this.#certificate(name, text)?.validTo.getTime() ?? 0) <= now
            : ext === '.json' && (this.#parsed(file, text, attemptSchema)?.nextAt ?? 0) <= now;
        if (isObsolete(await texts.read(file))) await texts.change([file], (texts) => isObsolete(texts.get(file)) ? new Map([[file, undefined]]) : new Map());
      }
    }
  }

  /** The rest of the program reads certificates from files. Those of a name are written one after another. */
  async #copy(name: string, pem: string): Promise<void> {
    if (!this.#isShared) return;
    const file = pemOf(name);
    const copying = (this.#copying.get(name) ?? Promise.resolve()).catch(() => undefined).then(() =>
      this.#own.change([file], (now) => now.get(file) === pem ? new Map() : new Map([[file, pem]]))
    );
    this.#copying.set(name, copying);
    try {
      await copying;
    } finally {
      if (this.#copying.get(name) === copying) this.#copying.delete(name);
    }
  }

  #certificate(name: string, pem: string | undefined): CertificateFacts | undefined {
    if (pem === undefined) return undefined;
    try {
      const facts = certificatePair(pem, pem);
      return coversHost(facts.x509, name) ? facts : undefined;
    } catch (error) {
      this.#log.error({ name, err: error }, 'an ACME certificate cannot be used: a new one is ordered');
      return undefined;
    }
  }

  #parsed<T>(file: string, text: string | undefined, schema: z.ZodType<T>): T | undefined {
    if (text === undefined) return undefined;
    try {
      return schema.parse(JSON.parse(text));
    } catch {
      // Error messages of zod or the parser could quote a key.
      this.#log.error({ file }, 'an ACME file cannot be read, and is created again');
      return undefined;
    }
  }
}

/** A certificate as it is kept. @throws {CertificateFault} when key and chain aren't a pair for the name */
export function issuedCertificate(name: string, key: string, chain: string): { readonly pem: string; readonly facts: CertificateFacts } {
  const facts = certificatePair(chain, key);
  if (!coversHost(facts.x509, name)) throw new CertificateFault('the certificate is for another name');
  return { pem: `${key.trim()}\n${chain.trim()}\n`, facts };
}

/** Each authority has a directory of its own. */
function subdirectoryOf(directory: string): string {
  return `${new URL(directory).hostname}-${hash('sha256', directory, 'hex').slice(0, 8)}`;
}

function pemOf(name: string): string {
  return `${name}.pem`;
}

function jsonOf(name: string): string {
  return `${name}.json`;
}
