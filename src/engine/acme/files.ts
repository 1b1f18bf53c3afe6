import { hash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import * as z from 'zod';
import { CertificateFault, type CertificateFacts, certificatePair, coversHost } from '../../rules/certificate.ts';

const accountSchema = z.object({ key: z.string(), url: z.url() });
const attemptSchema = z.object({
  failures: z.int().min(0),
  problem: z.string(),
  /** Version 0.1 did not store it. */
  lastAt: z.number().optional(),
  nextAt: z.number(),
});

/** The account at the directory: its key as PEM, never shown or logged, and its URL. */
export type AcmeAccount = z.output<typeof accountSchema>;
/** The failed orders of a name since its last certificate. `lastAt`: when the last one began; `nextAt`: when the next one is due; both in ms since the epoch. */
export type AcmeAttempt = z.output<typeof attemptSchema>;

const ACCOUNT = 'account.json';

/** The directory of ACME's files, and the function that writes a file atomically, readable by this user only. */
export interface AcmeKeeping {
  readonly dir: string;
  readonly write: (file: string, text: string) => void;
}

/**
 * The files for one ACME directory: the account, NAME.pem with key and chain for each name, and NAME.json while its orders fail. Each ACME directory
 * has its own files, so that a change of the setting does not mix them.
 */
export class AcmeFiles {
  readonly #dir: string;
  readonly #write: AcmeKeeping['write'];
  readonly #log: Logger;

  constructor({ dir, write }: AcmeKeeping, directory: string, log: Logger) {
    this.#dir = path.join(dir, `${new URL(directory).hostname}-${hash('sha256', directory, 'hex').slice(0, 8)}`);
    this.#write = write;
    this.#log = log;
  }

  account(): Promise<AcmeAccount | undefined> {
    return this.#read(ACCOUNT, accountSchema);
  }

  saveAccount(account: AcmeAccount): void {
    this.#write(path.join(this.#dir, ACCOUNT), JSON.stringify(account));
  }

  async forgetAccount(): Promise<void> {
    await rm(path.join(this.#dir, ACCOUNT), { force: true });
  }

  attempt(name: string): Promise<AcmeAttempt | undefined> {
    return this.#read(`${name}.json`, attemptSchema);
  }

  saveAttempt(name: string, attempt: AcmeAttempt): void {
    this.#write(path.join(this.#dir, `${name}.json`), JSON.stringify(attempt));
  }

  async forgetAttempt(name: string): Promise<void> {
    await rm(path.join(this.#dir, `${name}.json`), { force: true });
  }

  /** Key and chain of a name, in one file. */
  certificateFile(name: string): string {
    return path.join(this.#dir, `${name}.pem`);
  }

  /** The stored certificate of a name; undefined = no usable one. */
  async certificate(name: string): Promise<CertificateFacts | undefined> {
    try {
      const pem = await readFile(this.certificateFile(name), 'utf8');
      const facts = certificatePair(pem, pem);
      return coversHost(facts.x509, name) ? facts : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      this.#log.error({ name, err: error }, 'an ACME certificate cannot be used: a new one is ordered');
      return undefined;
    }
  }

  /** @throws {CertificateFault} when they aren't a pair for the name */
  saveCertificate(name: string, key: string, chain: string): CertificateFacts {
    const facts = certificatePair(chain, key);
    if (!coversHost(facts.x509, name)) throw new CertificateFault('the certificate is for another name');
    this.#write(this.certificateFile(name), `${key.trim()}\n${chain.trim()}\n`);
    return facts;
  }

  /** Deletes what is obsolete: certificates that have expired, and attempts whose wait is over. */
  async sweep(wanted: (name: string) => boolean, now: number): Promise<void> {
    for (const file of await this.#list()) {
      const { name, ext } = path.parse(file);
      if (file === ACCOUNT || wanted(name)) continue;
      if (ext === '.pem' && ((await this.certificate(name))?.validTo.getTime() ?? 0) <= now) await rm(this.certificateFile(name), { force: true });
      if (ext === '.json' && ((await this.attempt(name))?.nextAt ?? 0) <= now) await this.forgetAttempt(name);
    }
  }

  async #list(): Promise<string[]> {
    try {
      return await readdir(this.#dir);
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  async #read<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
    try {
      return schema.parse(JSON.parse(await readFile(path.join(this.#dir, file), 'utf8')));
    } catch (error) {
      // Error messages of zod or the parser could quote a key.
      if (!isMissing(error)) this.#log.error({ file }, 'an ACME file cannot be read, and is created again');
      return undefined;
    }
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
