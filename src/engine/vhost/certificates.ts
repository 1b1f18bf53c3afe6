import type { Logger } from 'pino';
import { type CertificateStanding, describeCertificate, standingOf } from '../../rules/certificate.ts';
import type { CertificateState, WantedHost } from '../face.ts';
import { Certificate, type CertificateSource } from './certificate.ts';

/** How often all certificates are looked at, in ms, so that what happens to files is told without a visitor. */
const ROUND_MS = 30_000;

interface Shared {
  readonly certificate: Certificate;
  users: number;
  /** As it was told last. */
  standing: CertificateStanding | undefined;
}

/** The certificates in use: hosts with the same one share it, as those of a platform domain do. */
export class Certificates {
  /** A certificate is another one, was refused, or has come of age. */
  onChange: (certificate: Certificate) => void = () => undefined;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #shared = new Map<string, Shared>();
  #round: NodeJS.Timeout | undefined;

  constructor(log: Logger, now: () => number = Date.now) {
    this.#log = log;
    this.#now = now;
  }

  /** Looks at all of them now and then. `stop` must follow. */
  start(): void {
    const round = (): void => {
      this.lookAtAll().catch((error: unknown) => this.#log.error({ err: error }, 'the certificates could not be looked at'));
    };
    round();
    this.#round = setInterval(round, ROUND_MS).unref();
  }

  stop(): void {
    clearInterval(this.#round);
  }

  /** undefined = the host has none. `release` must follow. */
  take(host: WantedHost): Certificate | undefined {
    const source = sourceOf(host);
    if (!source) return undefined;
    const key = keyOf(source);
    const shared = this.#shared.get(key) ?? this.#share(source);
    shared.users++;
    this.#shared.set(key, shared);
    return shared.certificate;
  }

  release(host: WantedHost): void {
    const source = sourceOf(host);
    const key = source && keyOf(source);
    const shared = key === undefined ? undefined : this.#shared.get(key);
    if (key !== undefined && shared && --shared.users === 0) this.#shared.delete(key);
  }

  #share(source: CertificateSource): Shared {
    const certificate = new Certificate(source, this.#log, this.#now, () => this.onChange(certificate));
    return { certificate, users: 0, standing: undefined };
  }

  /** Takes up what the files hold now, one certificate after another, and tells of those that have come of age. */
  async lookAtAll(): Promise<void> {
    for (const shared of this.#shared.values()) {
      await shared.certificate.look();
      this.#tell(shared);
    }
  }

  /** How one stands now. @param host what it is to cover */
  async state(certificate: Certificate, host: string): Promise<CertificateState> {
    await certificate.look();
    const { facts, problem } = certificate.status;
    return { inUse: facts ? describeCertificate(facts) : null, standing: standingOf(facts, problem, this.#now(), host), problem };
  }

  #tell(shared: Shared): void {
    const { facts, problem } = shared.certificate.status;
    const standing = standingOf(facts, problem, this.#now());
    if (standing === shared.standing) return;
    shared.standing = standing;
    if (!facts || (standing !== 'expired' && standing !== 'expiring')) return;
    this.#log.warn({ subject: facts.x509.subject, expiresAt: facts.validTo }, standing === 'expired' ? 'a certificate has expired' : 'a certificate expires soon');
    this.onChange(shared.certificate);
  }

  /** How many have expired, expire soon, or are not what is in their place now, as they were last looked at. */
  get counts(): { readonly certificatesExpired: number; readonly certificatesExpiring: number; readonly certificatesRefused: number } {
    const now = this.#now();
    const counts = { certificatesExpired: 0, certificatesExpiring: 0, certificatesRefused: 0 };
    for (const { certificate: { status: { facts, problem } } } of this.#shared.values()) {
      const age = standingOf(facts, '', now);
      if (age === 'expired') counts.certificatesExpired++;
      if (age === 'expiring') counts.certificatesExpiring++;
      if (problem !== '') counts.certificatesRefused++;
    }
    return counts;
  }
}

function sourceOf({ certificate, privateKey }: WantedHost): CertificateSource | undefined {
  return certificate === '' || privateKey === '' ? undefined : { certificate, privateKey };
}

function keyOf({ certificate, privateKey }: CertificateSource): string {
  return `${certificate}\0${privateKey}`;
}
