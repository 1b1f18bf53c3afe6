import { setImmediate } from 'node:timers/promises';
import { type HostRequest, HostTable } from '../../rules/host-route.ts';
import { OwnNames } from '../../rules/own-names.ts';
import type { HealthMessage } from '../../wire/health.ts';
import type { AcmeRetry, CertificateState, HostState, WantedHost } from '../face.ts';
import { afterMessage, type ReportedHealth, sameHealthy } from '../health/reported-health.ts';
import { NO_BYTES, type StoredBytes, type Ticker } from '../limits/meter.ts';
import type { Clients } from '../client-index.ts';
import type { Visitors } from '../limits/visitors.ts';
import { siblings, withoutSibling, withSibling, withSiblingReplaced } from '../siblings.ts';
import { HostEntry, type HostParts } from './host-entry.ts';
import { keptHost } from './kept-host.ts';
import type { Certificate } from './tls/certificate.ts';
import type { Certificates } from './tls/certificates.ts';

/** Hosts that are processed before the event loop goes on. */
const HOSTS_TOGETHER = 500;

/** Why a host is not served: its name is the server's own, and no administrator gave it that name. */
const OWN_NAME = "its name is one of the server's own: only administrators give one to a host";

/** All hosts, and the routing of requests to them. A change applies from the next request on. */
export class Hosts {
  readonly #parts: HostParts;
  readonly #certificates: Certificates;
  readonly #table = new HostTable<HostEntry>([], undefined, certificateRank);
  readonly #clients: Pick<Clients, 'get'>;
  readonly #publicUrl: string;
  #serverName = '';

  /**
   * @param clients each knows its first host
   * @param dialMs how long a target may take to answer
   * @param onCertificate the certificate status of a host has changed
   * @param publicUrl where the API is reached: one of the server's own names; "" = not known
   */
  constructor(
    clients: Pick<Clients, 'get'>,
    ticker: Ticker,
    visitors: Visitors,
    certificates: Certificates,
    dialMs: number,
    onCertificate: (id: number) => void = () => undefined,
    publicUrl = '',
  ) {
    this.#publicUrl = publicUrl;
    this.#table.ownNames = new OwnNames([publicUrl]);
    this.#clients = clients;
    this.#parts = { ticker, visitors, dialMs };
    this.#certificates = certificates;
    certificates.onChange = (certificate) => {
      for (const entry of this.#table.all()) if (entry.certificate === certificate) onCertificate(entry.id);
    };
  }

  /** The server's own name or address, which is used for visitors without a server name (SNI) in TLS; "" = unknown. */
  get serverName(): string {
    return this.#serverName;
  }

  /** From now on hosts of this name serve only if an administrator gave it to them. */
  set serverName(name: string) {
    const before = this.#table.ownNames;
    const names = new OwnNames([this.#publicUrl, name]);
    this.#serverName = name;
    this.#table.ownNames = names;
    for (const entry of this.#table.all()) {
      const { wanted } = entry;
      const allowed = names.mayAnswer(wanted, wanted.host);
      if (allowed === before.mayAnswer(wanted, wanted.host)) continue;
      this.set(wanted);
      if (!allowed) entry.closeConnections();
    }
  }

  /** Adds a host or changes it. @param stored the totals of a new one */
  set(wanted: WantedHost, stored: StoredBytes = NO_BYTES): void {
    const old = this.#table.get(wanted.id);
    const health = old?.wanted.clientId === wanted.clientId ? old.health : undefined;
    const certificate = this.#certificates.take(wanted, this.#mayAnswer(wanted));
    const entry = new HostEntry({ wanted: keptHost(wanted), certificate, health }, this.#parts, old ?? stored);
    this.#put(entry, old);
    if (old?.certificate) this.#certificates.release(old.certificate);
    if (!wanted.enabled || (old && old.wanted.clientId !== wanted.clientId)) entry.closeConnections();
  }

  /** Applies an agent's report on the health of a host's targets. @param now ms since the epoch */
  onHealth(message: HealthMessage, now: number): void {
    const entry = this.#table.get(message.id);
    if (entry) this.#useHealth(entry, afterMessage(entry.health, message, entry.wanted.targets, now));
  }

  /** The client's agent connected or disconnected: discards the last report. @returns the client's hosts */
  forgetHealth(clientId: number): readonly number[] {
    const entries = [...this.ofClient(clientId)];
    for (const entry of entries) if (entry.health) this.#useHealth(entry, undefined);
    return entries.map(({ id }) => id);
  }

  /** If other targets are in rotation, the next requests get another entry: connections to targets that are out are not reused. */
  #useHealth(entry: HostEntry, health: ReportedHealth | undefined): void {
    const { wanted, certificate } = entry;
    if (sameHealthy(entry.health, health, wanted.targets)) entry.health = health;
    else this.#put(new HostEntry({ wanted, certificate, health }, this.#parts, entry), entry);
  }

  #put(entry: HostEntry, old: HostEntry | undefined): void {
    const { clientId } = entry.wanted;
    this.#table.set(entry);
    const client = this.#clients.get(clientId);
    if (client?.firstHost && old?.previous && old.wanted.clientId === clientId) {
      client.firstHost = withSiblingReplaced(client.firstHost, old, entry);
    } else {
      if (old) this.#unlink(old);
      if (client) client.firstHost = withSibling(client.firstHost, entry);
    }
  }

  #unlink(entry: HostEntry): void {
    const client = this.#clients.get(entry.wanted.clientId);
    if (client) client.firstHost = withoutSibling(client.firstHost, entry);
  }

  remove(id: number): void {
    const entry = this.#table.get(id);
    if (!entry) return;
    if (entry.certificate) this.#certificates.release(entry.certificate);
    this.#table.delete(id);
    entry.closeConnections();
    this.#unlink(entry);
  }

  /** The names of the hosts that are not served because they are the server's own. */
  withOwnName(): string[] {
    return [...this.#table.all()].filter(({ enabled, wanted }) => enabled && !this.#mayAnswer(wanted)).map(({ host }) => host);
  }

  #mayAnswer(wanted: WantedHost): boolean {
    return this.#table.ownNames.mayAnswer(wanted, wanted.host);
  }

  /** Removes the hosts of a client that was deleted. */
  removeOf(clientId: number): void {
    for (const { id } of this.ofClient(clientId)) this.remove(id);
  }

  /** The hosts of a client. */
  ofClient(clientId: number): Generator<HostEntry> {
    return siblings(this.#clients.get(clientId)?.firstHost);
  }

  all(): Generator<HostEntry> {
    return this.#table.all();
  }

  get(id: number): HostEntry | undefined {
    return this.#table.get(id);
  }

  /** Whether a name or address is this server, or is served here: session cookies of the panel must not reach it. */
  isOwn(host: string): boolean {
    return this.#table.ownNames.has(host) || this.#table.knows(host);
  }

  /** The host that a request is routed to (contract 4.7), by the rule that diagnosis also uses. */
  match(request: HostRequest): HostEntry | undefined {
    return this.#table.match(request);
  }

  /**
   * The host for a name in TLS, before any path is known: preferably one with its own certificate, then one with ACME, otherwise the first.
   * @param name "" = the visitor sent none, as is usual for addresses: the server's own name is used (contract 4.7)
   */
  named(name: string): HostEntry | undefined {
    return this.#table.secure(name === '' ? this.serverName : name);
  }

  /**
   * The status of a host's certificate; undefined = its TLS is passed through, or it only serves HTTP.
   * @param name the requested name, if the host is a wildcard
   */
  async certificate(id: number, name?: string): Promise<CertificateState | undefined> {
    const entry = this.#table.get(id);
    if (!entry || entry.scheme === 'http') return undefined;
    const certificate = entry.certificate ?? this.#certificateNamed(entry.host);
    return certificate && this.#certificates.state(certificate, name ?? entry.host);
  }

  /** @see EngineFace.retryAcme */
  async retryAcme(id: number): Promise<AcmeRetry> {
    const entry = this.#table.get(id);
    const certificate = entry && (entry.certificate ?? this.#certificateNamed(entry.host));
    return certificate ? this.#certificates.retryAcme(certificate) : { kind: 'notFailed' };
  }

  /** The hosts with a certificate, as of the last check of its files. Lets the event loop go on in between. */
  async *certificates(): AsyncGenerator<{ readonly entry: HostEntry; readonly certificate: Certificate }> {
    // Many hosts may share a name, and each lookup of a name visits all of them.
    const byName = new Map<string, Certificate | undefined>();
    let looked = 0;
    for (const entry of this.#table.all()) {
      if (++looked % HOSTS_TOGETHER === 0) await setImmediate();
      if (entry.scheme === 'http') continue;
      if (!entry.certificate && !byName.has(entry.host)) byName.set(entry.host, this.#certificateNamed(entry.host));
      const certificate = entry.certificate ?? byName.get(entry.host);
      // Waits for the first check of a new certificate.
      if (certificate && !certificate.status.facts && certificate.status.problem === '') await certificate.look();
      if (certificate) yield { entry, certificate };
    }
  }

  /** The certificate for a name; a rule for another path of the name may have it. */
  #certificateNamed(host: string): Certificate | undefined {
    return this.#table.named(host, 'https').find((other) => other.host === host && other.certificate)?.certificate;
  }

  /** @param blocked why its client can't serve it; "" = it can. @returns undefined = no such host */
  state(id: number, blocked: (host: WantedHost) => string): HostState | undefined {
    const entry = this.#table.get(id);
    if (!entry) return undefined;
    const error = !entry.enabled ? '' : this.#mayAnswer(entry.wanted) ? blocked(entry.wanted) : OWN_NAME;
    const { connections, rate, inletRate, exportRate, inletBytes, exportBytes } = entry.traffic;
    // Named one by one, as in ClientEntry.state.
    return {
      running: entry.enabled && error === '',
      error,
      connections,
      refusals: entry.refusals,
      rate,
      inletRate,
      exportRate,
      inletBytes,
      exportBytes,
      health: entry.health?.state(entry.wanted.targets) ?? null,
    };
  }
}

/** Orders the rules of one name: first those with a certificate of their own, then those with one by ACME. */
function certificateRank({ wanted, certificate }: HostEntry): number {
  if (!certificate) return 2;
  return wanted.certificate === '' ? 1 : 0;
}
