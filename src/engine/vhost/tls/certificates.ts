import type { Logger } from 'pino';
import { type CertificateStatus, certificateStatusOf } from '../../../rules/certificate.ts';
import { acmeFault } from '../../../rules/acme-name.ts';
import type { Acme } from '../../acme/acme.ts';
import type { AcmeRetry, CertificateState, WantedHost } from '../../face.ts';
import { Certificate, type CertificateSource } from './certificate.ts';
import { TicketKeys } from './ticket-keys.ts';

/** How often all certificates are checked, in ms, so that changes of files are reported without a visitor. */
const ROUND_MS = 30_000;

interface Shared {
  readonly certificate: Certificate;
  users: number;
  /** The status that was last reported. */
  status: CertificateStatus | undefined;
}

/** The certificates in use: hosts with the same one share it, as those of a platform domain do. */
export class Certificates {
  /** A certificate was replaced, was refused, or has become valid. */
  onChange: (certificate: Certificate) => void = () => undefined;
  /** The session ticket keys of all certificates. */
  readonly tickets = new TicketKeys();
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #acme: Acme | undefined;
  readonly #shared = new Map<string, Shared>();
  #round: NodeJS.Timeout | undefined;

  /**
   * @param acme undefined = ACME is not enabled: hosts that request it have no certificate
   * @param ownName a name of the server itself that needs a certificate, whether a host has it or not
   */
  constructor(log: Logger, now: () => number = Date.now, acme?: Acme, ownName?: string) {
    this.#log = log;
    this.#now = now;
    this.#acme = acme;
    if (acme) acme.onChange = (name) => this.#inBackground(this.#ordered(acme, name));
    if (acme && ownName !== undefined) this.#use(fileOf(acme, ownName, 0));
  }

  async #ordered(acme: Acme, name: string): Promise<void> {
    const certificate = this.#shared.get(keyOf(fileOf(acme, name, 0)))?.certificate;
    if (!certificate) return;
    await certificate.look(true);
    this.onChange(certificate);
  }

  /** Starts the periodic check of all certificates. `stop` must follow. */
  start(): void {
    const round = (): void => this.#inBackground(this.lookAtAll());
    round();
    this.#round = setInterval(round, ROUND_MS).unref();
  }

  stop(): void {
    clearInterval(this.#round);
  }

  /** @param mayOrder ACME is allowed for the host. @returns undefined = the host has none. `release` must follow. */
  take(host: WantedHost, mayOrder: boolean): Certificate | undefined {
    const source = this.#sourceOf(host, mayOrder);
    return source && this.#use(source).certificate;
  }

  #use(source: CertificateSource): Shared {
    const key = keyOf(source);
    const shared = this.#shared.get(key) ?? this.#share(source);
    shared.users++;
    this.#shared.set(key, shared);
    return shared;
  }

  /** Called when a host no longer uses this certificate. */
  release({ source }: Certificate): void {
    const shared = this.#shared.get(keyOf(source));
    if (!shared || --shared.users > 0) return;
    this.#shared.delete(keyOf(source));
    if (source.acmeName !== undefined) this.#acme?.unwant(source.acmeName);
  }

  #share(source: CertificateSource): Shared {
    const certificate = new Certificate(source, { log: this.#log, now: this.#now, tickets: this.tickets }, () => this.onChange(certificate));
    if (source.acmeName !== undefined) this.#acme?.want(source.acmeName, source.acmeClientId ?? 0);
    return { certificate, users: 0, status: undefined };
  }

  /** Its own pair takes precedence over ACME, which is for names only, and for hosts that are served over HTTPS. */
  #sourceOf({ certificate, privateKey, acme, enabled, scheme, host, clientId }: WantedHost, mayOrder: boolean): CertificateSource | undefined {
    if (certificate !== '' && privateKey !== '') return { certificate, privateKey };
    if (!this.#acme || !acme || !mayOrder || !enabled || scheme === 'http' || certificate !== '' || privateKey !== '' || acmeFault(host) !== '') {
      return undefined;
    }
    return fileOf(this.#acme, host, clientId);
  }

  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.#log.error({ err: error }, 'the certificates could not be checked'));
  }

  /** Reloads the files, one certificate after another, and logs those that expire. @param force also those that were checked just now */
  async lookAtAll(force = false): Promise<void> {
    for (const shared of this.#shared.values()) {
      await shared.certificate.look(force);
      this.#tell(shared);
    }
  }

  /** The current status of one. @param host the name that it has to cover */
  async state(certificate: Certificate, host: string): Promise<CertificateState> {
    await certificate.look();
    const { facts, problem } = certificate.status;
    const { acmeName } = certificate.source;
    const acme = acmeName === undefined ? undefined : this.#acme?.state(acmeName);
    return { inUse: facts?.description ?? null, status: certificateStatusOf(facts, problem, this.#now(), host), problem, acme: acme ?? null };
  }

  /** @see EngineFace.retryAcme */
  async retryAcme({ source: { acmeName } }: Certificate): Promise<AcmeRetry> {
    return acmeName === undefined || !this.#acme ? { kind: 'notFailed' } : this.#acme.retry(acmeName);
  }

  #tell(shared: Shared): void {
    const { facts, problem } = shared.certificate.status;
    const status = certificateStatusOf(facts, problem, this.#now());
    if (status === shared.status) return;
    shared.status = status;
    if (!facts || (status !== 'expired' && status !== 'expiring')) return;
    this.#log.warn(
      { subject: facts.x509.subject, expiresAt: facts.validTo },
      status === 'expired' ? 'a certificate has expired' : 'a certificate expires soon',
    );
    this.onChange(shared.certificate);
  }

  /** How many have expired, expire soon, or could not be replaced by the pair that is configured now, at the last check. */
  get counts(): { readonly certificatesExpired: number; readonly certificatesExpiring: number; readonly certificatesRefused: number } {
    const now = this.#now();
    const counts = { certificatesExpired: 0, certificatesExpiring: 0, certificatesRefused: 0 };
    for (const { certificate: { status: { facts, problem } } } of this.#shared.values()) {
      const age = certificateStatusOf(facts, '', now);
      if (age === 'expired') counts.certificatesExpired++;
      if (age === 'expiring') counts.certificatesExpiring++;
      if (problem !== '') counts.certificatesRefused++;
    }
    return counts;
  }
}

/** Key and chain are in one file. */
function fileOf(acme: Acme, acmeName: string, acmeClientId: number): CertificateSource {
  const file = acme.fileOf(acmeName);
  return { certificate: file, privateKey: file, acmeName, acmeClientId };
}

function keyOf({ certificate, privateKey }: CertificateSource): string {
  return `${certificate}\0${privateKey}`;
}
