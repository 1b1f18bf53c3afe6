import { readFile, stat } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { CertificateFault, type CertificateFacts, certificatePair, isPem } from '../../rules/certificate.ts';

/** Files are looked at again at the first handshake after so many ms: a new pair is in use within 2 s. */
const LOOK_MS = 1000;
/** The most bytes of a certificate or key file (contract D32). */
const MAX_BYTES = 64 * 1024;

/** Where certificate and key come from: PEM texts, or paths of files. */
export interface CertificateSource {
  readonly certificate: string;
  readonly privateKey: string;
}

/** How a pair stands. */
export interface CertificateStatus {
  /** Why what is there now is not in use; "" = it is. */
  readonly problem: string;
  /** Of the pair in use, ms since the epoch; null = none is. */
  readonly expiresAt: number | null;
}

interface Loaded {
  readonly context: SecureContext;
  readonly expiresAt: number;
}

/** A certificate with its key. Once there was a good pair, a bad one never takes its place. */
export class Certificate {
  readonly #source: CertificateSource;
  readonly #log: Logger;
  readonly #now: () => number;
  #loaded: Loaded | undefined;
  #problem = '';
  /** What the files were like when they were read last. */
  #seen = '';
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  constructor(source: CertificateSource, log: Logger, now: () => number) {
    this.#source = source;
    this.#log = log;
    this.#now = now;
  }

  /** What the next handshake is to use; undefined = there was never a good pair. */
  async context(): Promise<SecureContext | undefined> {
    await this.#look();
    return this.#loaded?.context;
  }

  /** How it stands now. */
  async status(): Promise<CertificateStatus> {
    await this.#look();
    const expired = this.#loaded && this.#loaded.expiresAt <= this.#now() ? 'the certificate has expired' : '';
    return { problem: this.#problem || expired, expiresAt: this.#loaded?.expiresAt ?? null };
  }

  /** Any number of handshakes cost one look a second. */
  #look(): Promise<void> {
    if (performance.now() - this.#lookedAt < LOOK_MS) return this.#looking ?? Promise.resolve();
    this.#lookedAt = performance.now();
    this.#looking = this.#reload().finally(() => { this.#looking = undefined; });
    return this.#looking;
  }

  async #reload(): Promise<void> {
    const { certificate, privateKey } = this.#source;
    try {
      const seen = `${await likeness(certificate)} ${await likeness(privateKey)}`;
      if (seen === this.#seen) return;
      const [cert, key] = await Promise.all([textOf(certificate), textOf(privateKey)]);
      this.#use(certificatePair(cert, key), cert, key);
      this.#seen = seen;
    } catch (error) {
      if (!(error instanceof CertificateFault)) throw error;
      this.#refuse(error.message);
    }
  }

  #use({ x509, validFrom, validTo }: CertificateFacts, cert: string, key: string): void {
    const now = this.#now();
    // Before there is another one even an expired certificate tells a visitor more than no answer.
    if (this.#loaded && (validFrom.getTime() > now || validTo.getTime() <= now)) throw new CertificateFault('not yet valid or expired');
    this.#loaded = { context: createSecureContext({ cert, key, minVersion: 'TLSv1.2' }), expiresAt: validTo.getTime() };
    this.#problem = '';
    this.#log.info({ subject: x509.subject, expiresAt: validTo }, 'a certificate is in use');
  }

  #refuse(fault: string): void {
    const problem = this.#loaded ? `the new certificate cannot be used (${fault}): the one before stays` : `the certificate cannot be used: ${fault}`;
    if (problem === this.#problem) return;
    this.#problem = problem;
    const { certificate } = this.#source;
    this.#log.error({ certificate: isPem(certificate) ? undefined : certificate }, problem);
  }
}

/** What changes with a file's content; of a text nothing does. @throws {CertificateFault} */
async function likeness(given: string): Promise<string> {
  if (isPem(given)) return 'text';
  try {
    const file = await stat(given, { bigint: true });
    if (file.isFile() && file.size <= MAX_BYTES) return `${file.dev}:${file.ino}:${file.size}:${file.mtimeNs}`;
  } catch {
    // it isn't there, or isn't ours to read
  }
  throw new CertificateFault('cannot load');
}

/** @throws {CertificateFault} */
async function textOf(given: string): Promise<string> {
  if (isPem(given)) return given;
  try {
    return await readFile(given, 'utf8');
  } catch {
    throw new CertificateFault('cannot load');
  }
}

/** The certificates in use: hosts with the same one share it, as those of a platform domain do. */
export class Certificates {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #shared = new Map<string, { readonly certificate: Certificate; users: number }>();

  constructor(log: Logger, now: () => number = Date.now) {
    this.#log = log;
    this.#now = now;
  }

  /** undefined = the host has none. `release` must follow. */
  take(source: CertificateSource): Certificate | undefined {
    if (source.certificate === '' || source.privateKey === '') return undefined;
    const key = keyOf(source);
    const shared = this.#shared.get(key) ?? { certificate: new Certificate(source, this.#log, this.#now), users: 0 };
    shared.users++;
    this.#shared.set(key, shared);
    return shared.certificate;
  }

  release(source: CertificateSource): void {
    const key = keyOf(source);
    const shared = this.#shared.get(key);
    if (shared && --shared.users === 0) this.#shared.delete(key);
  }
}

function keyOf({ certificate, privateKey }: CertificateSource): string {
  return `${certificate}\0${privateKey}`;
}
