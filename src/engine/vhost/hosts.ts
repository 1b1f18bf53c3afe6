import { setImmediate } from 'node:timers/promises';
import { type HostRequest, type HostRule, HostTable } from '../../rules/host-route.ts';
import { OwnNames } from '../../rules/own-names.ts';
import type { HealthMessage } from '../../wire/health.ts';
import { START_CREDIT } from '../../wire/stream.ts';
import type { AcmeRetry, CertificateState, HostState, WantedHost } from '../face.ts';
import { afterMessage, healthyTargets, type ReportedHealth, sameHealthy } from '../health/reported-health.ts';
import { Meter, NO_BYTES, type StoredBytes, type Ticker } from '../limits/meter.ts';
import type { Visitors } from '../limits/visitors.ts';
import { Connections } from '../tunnels/connections.ts';
import { TargetRotation } from '../tunnels/target-rotation.ts';
import type { Certificate } from './tls/certificate.ts';
import type { Certificates } from './tls/certificates.ts';
import { type HostFields, hostFields } from './target/host-fields.ts';

/** Hosts that are processed before the event loop goes on. */
const HOSTS_TOGETHER = 500;

/** Why a host is not served: its name is the server's own, and no administrator gave it that name. */
const OWN_NAME = "its name is one of the server's own: only administrators give one to a host";

/** The parts of an entry. */
type HostParts = Pick<HostEntry, 'wanted' | 'meter' | 'connections' | 'certificate' | 'health'>;

/** One host as it is routed to. After a change, a new entry with the same meter replaces it. */
export class HostEntry implements HostRule {
  readonly wanted: WantedHost;
  readonly meter: Meter;
  /** undefined = none: for HTTPS, TLS is passed through to the target. */
  readonly certificate: Certificate | undefined;
  /** Connections to its targets. */
  readonly connections: Connections;
  /** For requests: the agent reports the result of the dial. */
  readonly targets: TargetRotation;
  /** For TLS that is passed through. */
  readonly secureTargets: TargetRotation;
  /** What it sets in the heads of requests. */
  readonly fields: HostFields;
  readonly id: number;
  readonly host: string;
  readonly location: string;
  readonly scheme: WantedHost['scheme'];
  readonly enabled: boolean;
  readonly namedByAdmin: boolean;
  /** undefined = its targets are not checked. */
  health: ReportedHealth | undefined;

  /** @param before the entry that this one replaces */
  constructor({ wanted, meter, connections, certificate, health }: HostParts, dialMs: number, before?: HostEntry) {
    this.wanted = wanted;
    this.meter = meter;
    this.connections = connections;
    this.certificate = certificate;
    this.health = health;
    const targets = healthyTargets(health, wanted.targets);
    this.targets = new TargetRotation({ kind: 'dial', by: `host ${wanted.id}`, timeoutMs: dialMs, credit: START_CREDIT }, targets, before?.targets);
    this.secureTargets = new TargetRotation({ kind: 'tcp', by: `host ${wanted.id}` }, targets, before?.secureTargets);
    this.fields = before?.wanted === wanted ? before.fields : hostFields(wanted);
    this.id = wanted.id;
    this.host = wanted.host;
    this.location = wanted.location;
    this.scheme = wanted.scheme;
    this.enabled = wanted.enabled;
    this.namedByAdmin = wanted.namedByAdmin;
  }
}

/** All hosts, and the routing of requests to them. A change applies from the next request on. */
export class Hosts {
  readonly #ticker: Ticker;
  readonly #visitors: Visitors;
  readonly #certificates: Certificates;
  readonly #dialMs: number;
  readonly #table = new HostTable<HostEntry>([], undefined, certificateRank);
  readonly #entries = new Map<number, HostEntry>();
  readonly #ofClient = new Map<number, Set<number>>();
  readonly #publicUrl: string;
  #serverName = '';

  /**
   * @param dialMs how long a target may take to answer
   * @param onCertificate the certificate status of a host has changed
   * @param publicUrl where the API is reached: one of the server's own names; "" = not known
   */
  constructor(
    ticker: Ticker,
    visitors: Visitors,
    certificates: Certificates,
    dialMs: number,
    onCertificate: (id: number) => void = () => undefined,
    publicUrl = '',
  ) {
    this.#publicUrl = publicUrl;
    this.#table.ownNames = new OwnNames([publicUrl]);
    this.#dialMs = dialMs;
    this.#ticker = ticker;
    this.#visitors = visitors;
    this.#certificates = certificates;
    certificates.onChange = (certificate) => {
      for (const entry of this.#entries.values()) if (entry.certificate === certificate) onCertificate(entry.id);
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
    for (const { wanted, connections } of this.#entries.values()) {
      const allowed = names.mayAnswer(wanted, wanted.host);
      if (allowed === before.mayAnswer(wanted, wanted.host)) continue;
      this.set(wanted);
      if (!allowed) connections.closeAll();
    }
  }

  /** Adds a host or changes it. @param stored the totals of a new one */
  set(wanted: WantedHost, stored: StoredBytes = NO_BYTES): void {
    const old = this.#entries.get(wanted.id);
    if (old && old.wanted.clientId !== wanted.clientId) this.#ofClient.get(old.wanted.clientId)?.delete(wanted.id);
    const meter = old?.meter ?? new Meter(this.#ticker, 'host', wanted.id, stored);
    const connections = old?.connections ?? new Connections(meter, this.#visitors);
    const health = old?.wanted.clientId === wanted.clientId ? old.health : undefined;
    this.#put(new HostEntry({ wanted, meter, connections, certificate: this.#certificates.take(wanted, this.#mayAnswer(wanted)), health }, this.#dialMs, old));
    if (old?.certificate) this.#certificates.release(old.certificate);
    if (!wanted.enabled || (old && old.wanted.clientId !== wanted.clientId)) connections.closeAll();
    const ids = this.#ofClient.get(wanted.clientId);
    if (ids) ids.add(wanted.id);
    else this.#ofClient.set(wanted.clientId, new Set([wanted.id]));
  }

  /** Applies an agent's report on the health of a host's targets. @param now ms since the epoch */
  onHealth(message: HealthMessage, now: number): void {
    const entry = this.#entries.get(message.id);
    if (entry) this.#useHealth(entry, afterMessage(entry.health, message, entry.wanted.targets, now));
  }

  /** The client's agent connected or disconnected: discards the last report. @returns the client's hosts */
  forgetHealth(clientId: number): readonly number[] {
    const ids = [...this.#ofClient.get(clientId) ?? []];
    for (const id of ids) {
      const entry = this.#entries.get(id);
      if (entry?.health) this.#useHealth(entry, undefined);
    }
    return ids;
  }

  /** If other targets are in rotation, the next requests get another entry: connections to targets that are out are not reused. */
  #useHealth(entry: HostEntry, health: ReportedHealth | undefined): HostEntry {
    const { wanted, meter, connections, certificate } = entry;
    if (sameHealthy(entry.health, health, wanted.targets)) {
      entry.health = health;
      return entry;
    }
    return this.#put(new HostEntry({ wanted, meter, connections, certificate, health }, this.#dialMs, entry));
  }

  #put(entry: HostEntry): HostEntry {
    this.#entries.set(entry.id, entry);
    this.#table.set(entry);
    return entry;
  }

  remove(id: number): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    if (entry.certificate) this.#certificates.release(entry.certificate);
    this.#table.delete(id);
    entry.connections.closeAll();
    this.#ofClient.get(entry.wanted.clientId)?.delete(id);
  }

  /** The names of the hosts that are not served because they are the server's own. */
  withOwnName(): string[] {
    return [...this.#entries.values()].filter(({ enabled, wanted }) => enabled && !this.#mayAnswer(wanted)).map(({ host }) => host);
  }

  #mayAnswer(wanted: WantedHost): boolean {
    return this.#table.ownNames.mayAnswer(wanted, wanted.host);
  }

  /** Removes the hosts of a client that was deleted. */
  removeOf(clientId: number): void {
    for (const id of this.#ofClient.get(clientId) ?? []) this.remove(id);
    this.#ofClient.delete(clientId);
  }

  /** The hosts of a client. */
  *ofClient(clientId: number): Generator<HostEntry> {
    for (const id of this.#ofClient.get(clientId) ?? []) {
      const entry = this.#entries.get(id);
      if (entry) yield entry;
    }
  }

  all(): IterableIterator<HostEntry> {
    return this.#entries.values();
  }

  get(id: number): HostEntry | undefined {
    return this.#entries.get(id);
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
    const entry = this.#entries.get(id);
    if (!entry || entry.scheme === 'http') return undefined;
    const certificate = entry.certificate ?? this.#certificateNamed(entry.host);
    return certificate && this.#certificates.state(certificate, name ?? entry.host);
  }

  /** @see EngineFace.retryAcme */
  retryAcme(id: number): AcmeRetry {
    const entry = this.#entries.get(id);
    const certificate = entry && (entry.certificate ?? this.#certificateNamed(entry.host));
    return certificate ? this.#certificates.retryAcme(certificate) : { kind: 'notFailed' };
  }

  /** The hosts with a certificate, as of the last check of its files. Lets the event loop go on in between. */
  async *certificates(): AsyncGenerator<{ readonly entry: HostEntry; readonly certificate: Certificate }> {
    // Many hosts may share a name, and each lookup of a name visits all of them.
    const byName = new Map<string, Certificate | undefined>();
    let looked = 0;
    for (const entry of this.#entries.values()) {
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
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    const error = !entry.enabled ? '' : this.#mayAnswer(entry.wanted) ? blocked(entry.wanted) : OWN_NAME;
    return {
      running: entry.enabled && error === '',
      error,
      refusals: entry.meter.refusals,
      ...entry.meter.traffic,
      health: entry.health?.state(entry.wanted.targets) ?? null,
    };
  }
}

/** Orders the rules of one name: first those with a certificate of their own, then those with one by ACME. */
function certificateRank({ wanted, certificate }: HostEntry): number {
  if (!certificate) return 2;
  return wanted.certificate === '' ? 1 : 0;
}
