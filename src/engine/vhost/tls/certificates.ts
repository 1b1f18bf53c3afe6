import type { Logger } from 'pino';
import { type CertificateStanding, describeCertificate, standingOf } from '../../../rules/certificate.ts';
import { acmeFault } from '../../../rules/acme-name.ts';
import type { Acme } from '../../acme/acme.ts';
import type { CertificateState, WantedHost } from '../../face.ts';
import { Certificate, type CertificateSource } from './certificate.ts';
import { TicketKeys } from './ticket-keys.ts';

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
  /** What the sessions of all of them are resumed by. */
  readonly tickets = new TicketKeys();
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #acme: Acme | undefined;
  readonly #shared = new Map<string, Shared>();
  #round: NodeJS.Timeout | undefined;

  /** @param acme undefined = the server doesn't do that: hosts that ask for it have no certificate */
  constructor(log: Logger, now: () => number = Date.now, acme?: Acme) {
    this.#log = log;
    this.#now = now;
    this.#acme = acme;
    if (acme) acme.onChange = (name) => this.#inBackground(this.#ordered(acme, name));
  }

  async #ordered(acme: Acme, name: string): Promise<void> {
    const certificate = this.#shared.get(keyOf(fileOf(acme, name)))?.certificate;
    if (!certificate) return;
    await certificate.look(true);
    this.onChange(certificate);
  }

  /** Looks at all of them now and then. `stop` must follow. */
  start(): void {
    const round = (): void => this.#inBackground(this.lookAtAll());
    round();
    this.#round = setInterval(round, ROUND_MS).unref();
  }

  stop(): void {
    clearInterval(this.#round);
  }

  /** @param mayOrder it may have one by ACME. @returns undefined = the host has none. `release` must follow. */
  take(host: WantedHost, mayOrder: boolean): Certificate | undefined {
    const source = this.#sourceOf(host, mayOrder);
    if (!source) return undefined;
    const key = keyOf(source);
    const shared = this.#shared.get(key) ?? this.#share(source);
    shared.users++;
    this.#shared.set(key, shared);
    return shared.certificate;
  }

  /** A host has this one no more. */
  release({ source }: Certificate): void {
    const shared = this.#shared.get(keyOf(source));
    if (!shared || --shared.users > 0) return;
    this.#shared.delete(keyOf(source));
    if (source.acmeName !== undefined) this.#acme?.unwant(source.acmeName);
  }

  #share(source: CertificateSource): Shared {
    const certificate = new Certificate(source, { log: this.#log, now: this.#now, tickets: this.tickets }, () => this.onChange(certificate));
    if (source.acmeName !== undefined) this.#acme?.want(source.acmeName);
    return { certificate, users: 0, standing: undefined };
  }

  /** Its own pair goes before ACME, which is for names alone, and for hosts that are served over HTTPS. */
  #sourceOf({ certificate, privateKey, acme, enabled, scheme, host }: WantedHost, mayOrder: boolean): CertificateSource | undefined {
    if (certificate !== '' && privateKey !== '') return { certificate, privateKey };
    if (!this.#acme || !acme || !mayOrder || !enabled || scheme === 'http' || certificate !== '' || privateKey !== '' || acmeFault(host) !== '') return undefined;
    return fileOf(this.#acme, host);
  }

  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.#log.error({ err: error }, 'the certificates could not be looked at'));
  }

  /** Takes up what the files hold now, one certificate after another, and tells of those that have come of age. @param force also those looked at just now */
  async lookAtAll(force = false): Promise<void> {
    for (const shared of this.#shared.values()) {
      await shared.certificate.look(force);
      this.#tell(shared);
    }
  }

  /** How one stands now. @param host what it is to cover */
  async state(certificate: Certificate, host: string): Promise<CertificateState> {
    await certificate.look();
    const { facts, problem } = certificate.status;
    const { acmeName } = certificate.source;
    const acme = acmeName === undefined ? undefined : this.#acme?.state(acmeName);
    return { inUse: facts ? describeCertificate(facts) : null, standing: standingOf(facts, problem, this.#now(), host), problem, acme: acme ?? null };
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

/** Key and chain are in one file. */
function fileOf(acme: Acme, acmeName: string): CertificateSource {
  const file = acme.fileOf(acmeName);
  return { certificate: file, privateKey: file, acmeName };
}

function keyOf({ certificate, privateKey }: CertificateSource): string {
  return `${certificate}\0${privateKey}`;
}
