import { readFile, stat } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { CertificateFault, type CertificateFacts, certificatePair, isPem } from '../../rules/certificate.ts';

/** Files are looked at again at the first handshake after so many ms: a new pair is in use within 2 s. */
const LOOK_MS = 1000;
/** The most bytes of a certificate or key file (contract D32). */
const MAX_BYTES = 64 * 1024;
/** What is wrong with a file that isn't there or can't be read. */
const MISSING = 'cannot load';

/** Where certificate and key come from: PEM texts, or paths of files, which may be one and the same. */
export interface CertificateSource {
  readonly certificate: string;
  readonly privateKey: string;
  /** The name that it is got for by ACME: it may not be there yet. */
  readonly acmeName?: string;
}

/** How a pair stands. */
export interface CertificateStatus {
  /** Of the pair in use; undefined = none is. */
  readonly facts: CertificateFacts | undefined;
  /** Why what is there now is not in use; "" = it is. */
  readonly problem: string;
}

interface Loaded {
  readonly context: SecureContext;
  readonly facts: CertificateFacts;
}

/** A certificate with its key. Once there was a good pair, a bad one never takes its place. */
export class Certificate {
  readonly source: CertificateSource;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #onChange: () => void;
  #loaded: Loaded | undefined;
  #problem = '';
  /** What the files were like when they were read last. */
  #seen = '';
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  /** @param onChange another pair is in use, or one was refused */
  constructor(source: CertificateSource, log: Logger, now: () => number, onChange: () => void) {
    this.source = source;
    this.#log = log;
    this.#now = now;
    this.#onChange = onChange;
  }

  /** What the next handshake is to use; undefined = there was never a good pair. */
  async context(): Promise<SecureContext | undefined> {
    await this.look();
    return this.#loaded?.context;
  }

  /** How it stood when it was last looked at. */
  get status(): CertificateStatus {
    return { facts: this.#loaded?.facts, problem: this.#problem };
  }

  /** Takes up what is there now. Any number of handshakes cost one look a second. @param force don't wait for that second */
  async look(force = false): Promise<void> {
    if (force) await this.#looking;
    else if (performance.now() - this.#lookedAt < LOOK_MS) return this.#looking;
    this.#lookedAt = performance.now();
    this.#looking = this.#reload().finally(() => { this.#looking = undefined; });
    return this.#looking;
  }

  async #reload(): Promise<void> {
    const { certificate, privateKey } = this.source;
    try {
      const seen = `${await likeness(certificate)} ${await likeness(privateKey)}`;
      if (seen === this.#seen) {
        this.#mended();
        return;
      }
      const cert = await textOf(certificate);
      const key = privateKey === certificate ? cert : await textOf(privateKey);
      this.#use(certificatePair(cert, key), cert, key);
      this.#seen = seen;
    } catch (error) {
      if (!(error instanceof CertificateFault)) throw error;
      this.#refuse(error.message);
    }
  }

  #use(facts: CertificateFacts, cert: string, key: string): void {
    const now = this.#now();
    // Before there is another one even an expired certificate tells a visitor more than no answer.
    if (this.#loaded && (facts.validFrom.getTime() > now || facts.validTo.getTime() <= now)) throw new CertificateFault('not yet valid or expired');
    this.#loaded = { context: contextOf(cert, key), facts };
    this.#problem = '';
    this.#log.info({ subject: facts.x509.subject, expiresAt: facts.validTo }, 'a certificate is in use');
    this.#onChange();
  }

  /** What was bad is gone again: the files are those in use. */
  #mended(): void {
    if (this.#problem === '') return;
    this.#problem = '';
    this.#log.info('the files of a certificate are those in use again');
    this.#onChange();
  }

  #refuse(fault: string): void {
    const { certificate, acmeName } = this.source;
    if (acmeName !== undefined && !this.#loaded && fault === MISSING) return;
    const problem = this.#loaded ? `the new certificate cannot be used (${fault}): the one before stays` : `the certificate cannot be used: ${fault}`;
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#log.error({ certificate: isPem(certificate) ? undefined : certificate }, problem);
    this.#onChange();
  }
}

/** @throws {CertificateFault} when the chain is broken, or OpenSSL finds the key too weak */
function contextOf(cert: string, key: string): SecureContext {
  try {
    return createSecureContext({ cert, key, minVersion: 'TLSv1.2' });
  } catch (error) {
    throw new CertificateFault(`unusable: ${error instanceof Error ? error.message : String(error)}`);
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
  throw new CertificateFault(MISSING);
}

/** @throws {CertificateFault} */
async function textOf(given: string): Promise<string> {
  if (isPem(given)) return given;
  try {
    return await readFile(given, 'utf8');
  } catch {
    throw new CertificateFault(MISSING);
  }
}
