import { readFile, stat } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { CertificateFault, type CertificateFacts, type CertificatePair, certificatePair, isPem } from '../../../rules/certificate.ts';
import type { TicketKeys } from './ticket-keys.ts';

/** The first handshake after this many ms checks the files again: a new pair is in use within 2 s. */
const LOOK_MS = 1000;
/** The most bytes of a certificate or key file (contract D32). */
const MAX_BYTES = 64 * 1024;
/** How long a session may be resumed, in seconds: at most as long as its ticket's key is in use. */
const SESSION_SECONDS = 12 * 60 * 60;
/** What is wrong with a file that isn't there or can't be read. */
const MISSING = 'cannot load';

/** The source of certificate and key: PEM texts, or paths of files, which may be the same file. */
export interface CertificateSource {
  readonly certificate: string;
  readonly privateKey: string;
  /** The name for which ACME issues it: the file may not exist yet. */
  readonly acmeName?: string;
  /** The client for which the orders count. */
  readonly acmeClientId?: number;
}

/** What certificates need. */
export interface CertificateNeeds {
  readonly log: Logger;
  /** ms since the epoch */
  readonly now: () => number;
  readonly tickets: TicketKeys;
}

/** The state of a certificate with its key. */
export interface PairState {
  /** The facts of the pair in use; undefined = there is none. */
  readonly facts: CertificateFacts | undefined;
  /** Why a replacement is not used; "" = there is no refused replacement. */
  readonly problem: string;
}

interface Loaded {
  readonly context: SecureContext;
  readonly facts: CertificateFacts;
  /** PEM texts. */
  readonly cert: string;
  readonly key: string;
  /** The version of the context's ticket keys. */
  readonly tickets: number;
}

/** A certificate with its key. A bad pair never replaces a good one. */
export class Certificate {
  readonly source: CertificateSource;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #tickets: TicketKeys;
  readonly #onChange: () => void;
  #loaded: Loaded | undefined;
  #problem = '';
  /** The state of the files when they were last read. */
  #seen = '';
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  /** @param onChange another pair is in use, or one was refused */
  constructor(source: CertificateSource, { log, now, tickets }: CertificateNeeds, onChange: () => void) {
    this.source = source;
    this.#log = log;
    this.#now = now;
    this.#tickets = tickets;
    this.#onChange = onChange;
  }

  /** The context for the next handshake; undefined = there was never a good pair. */
  async context(): Promise<SecureContext | undefined> {
    await this.look();
    const loaded = this.#loaded;
    // The ticket keys of a context can't be changed.
    if (loaded && loaded.tickets !== this.#tickets.version) this.#loaded = this.#load(loaded);
    return this.#loaded?.context;
  }

  /** Its state at the last check. */
  get status(): PairState {
    return { facts: this.#loaded?.facts, problem: this.#problem };
  }

  /** Loads changed files; checks them once a second at most, for any number of handshakes. @param force check now */
  async look(force = false): Promise<void> {
    if (force) await this.#looking;
    else if (performance.now() - this.#lookedAt < LOOK_MS) return this.#looking;
    this.#lookedAt = performance.now();
    this.#looking = this.#reload().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #reload(): Promise<void> {
    const { certificate, privateKey } = this.source;
    try {
      const seen = `${await likeness(certificate)} ${await likeness(privateKey)}`;
      if (seen === this.#seen) {
        this.#recovered();
        return;
      }
      const cert = await textOf(certificate);
      const key = privateKey === certificate ? cert : await textOf(privateKey);
      this.#use(certificatePair(cert, key), cert);
      this.#seen = seen;
    } catch (error) {
      if (!(error instanceof CertificateFault)) throw error;
      this.#refuse(error.message);
    }
  }

  #use({ privateKey: key, ...facts }: CertificatePair, cert: string): void {
    const now = this.#now();
    // Without a usable pair, an expired certificate is more informative to a visitor than a closed connection.
    if (this.#loaded && (facts.validFrom.getTime() > now || facts.validTo.getTime() <= now)) throw new CertificateFault('not yet valid or expired');
    this.#loaded = this.#load({ facts, cert, key });
    this.#problem = '';
    this.#log.info({ subject: facts.x509.subject, expiresAt: facts.validTo }, 'a certificate is in use');
    this.#onChange();
  }

  /** @throws {CertificateFault} */
  #load({ facts, cert, key }: Pick<Loaded, 'facts' | 'cert' | 'key'>): Loaded {
    const { fingerprint256 } = facts.x509;
    return {
      context: contextOf({ cert, key, fingerprint: fingerprint256, ticketKeys: this.#tickets.keyFor(fingerprint256) }),
      facts,
      cert,
      key,
      tickets: this.#tickets.version,
    };
  }

  /** The replacement was undone: the files are those in use again. */
  #recovered(): void {
    if (this.#problem === '') return;
    this.#problem = '';
    this.#log.info('the files of a certificate match the one in use again');
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
function contextOf(
  { cert, key, fingerprint, ticketKeys }: { readonly cert: string; readonly key: string; readonly fingerprint: string; readonly ticketKeys: Buffer },
): SecureContext {
  try {
    // A session is resumed only for the certificate that it began with.
    const sessionIdContext = fingerprint.replaceAll(':', '').slice(0, 32);
    return createSecureContext({ cert, key, minVersion: 'TLSv1.2', ticketKeys, sessionIdContext, sessionTimeout: SESSION_SECONDS });
  } catch (error) {
    throw new CertificateFault(`unusable: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A text that changes with a file's content; constant for PEM texts. @throws {CertificateFault} */
async function likeness(given: string): Promise<string> {
  if (isPem(given)) return 'text';
  try {
    const file = await stat(given, { bigint: true });
    if (file.isFile() && file.size <= MAX_BYTES) return `${file.dev}:${file.ino}:${file.size}:${file.mtimeNs}`;
  } catch {
    // missing, or not readable
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
