import { type HostRequest, type HostRule, HostTable } from '../../rules/host-route.ts';
import { OwnNames } from '../../rules/own-names.ts';
import type { HealthMessage } from '../../wire/health.ts';
import { START_CREDIT } from '../../wire/stream.ts';
import type { CertificateState, HostState, WantedHost } from '../face.ts';
import { afterMessage, inTurn, type ReportedHealth, sameTurns } from '../health/reported-health.ts';
import { Meter, NO_BYTES, type StoredBytes, type Ticker } from '../limits/meter.ts';
import type { Visitors } from '../limits/visitors.ts';
import { Connections } from '../tunnels/connections.ts';
import { TargetTurns } from '../tunnels/target-turns.ts';
import type { Certificate } from './tls/certificate.ts';
import type { Certificates } from './tls/certificates.ts';
import { type HostFields, hostFields } from './target/host-fields.ts';

/** Why a host serves nobody whose name was not given by an administrator. */
const OWN_NAME = "its name is one of the server's own: only administrators give one to a host";

/** What an entry is made of. */
type HostParts = Pick<HostEntry, 'wanted' | 'meter' | 'connections' | 'certificate' | 'health'>;

/** One host as it is routed to. A changed one is another entry with the same meter. */
export class HostEntry implements HostRule {
  readonly wanted: WantedHost;
  readonly meter: Meter;
  /** undefined = it has none: the target speaks TLS itself, if it is for HTTPS. */
  readonly certificate: Certificate | undefined;
  /** Those to its targets. */
  readonly connections: Connections;
  /** For requests: the agent says what became of the dial. */
  readonly targets: TargetTurns;
  /** For TLS that is passed through. */
  readonly secureTargets: TargetTurns;
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

  /** @param before the entry that this one takes the place of */
  constructor({ wanted, meter, connections, certificate, health }: HostParts, dialMs: number, before?: HostEntry) {
    this.wanted = wanted;
    this.meter = meter;
    this.connections = connections;
    this.certificate = certificate;
    this.health = health;
    const targets = inTurn(health, wanted.targets);
    this.targets = new TargetTurns({ kind: 'dial', by: `host ${wanted.id}`, timeoutMs: dialMs, credit: START_CREDIT }, targets, before?.targets);
    this.secureTargets = new TargetTurns({ kind: 'tcp', by: `host ${wanted.id}` }, targets, before?.secureTargets);
    this.fields = before?.wanted === wanted ? before.fields : hostFields(wanted);
    this.id = wanted.id;
    this.host = wanted.host;
    this.location = wanted.location;
    this.scheme = wanted.scheme;
    this.enabled = wanted.enabled;
    this.namedByAdmin = wanted.namedByAdmin;
  }
}

/** All hosts, and which of them a request goes to. A change holds from the next request on. */
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
   * @param onCertificate the certificate of a host stands in another way
   * @param publicUrl where the API is reached: one of the server's own names; "" = not known
   */
  constructor(ticker: Ticker, visitors: Visitors, certificates: Certificates, dialMs: number, onCertificate: (id: number) => void = () => undefined, publicUrl = '') {
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

  /** The server's own name or address: asked for by visitors that name nobody in TLS; "" = not told. */
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

  /** Adds a host or changes it. @param stored what a new one has moved before */
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

  /** The agent of a host tells of the health of its targets. @param now ms since the epoch */
  onHealth(message: HealthMessage, now: number): void {
    const entry = this.#entries.get(message.id);
    if (entry) this.#useHealth(entry, afterMessage(entry.health, message, entry.wanted.targets, now));
  }

  /** The client's agent came or went: what the last one told counts no more. @returns the client's hosts */
  forgetHealth(clientId: number): readonly number[] {
    const ids = [...this.#ofClient.get(clientId) ?? []];
    for (const id of ids) {
      const entry = this.#entries.get(id);
      if (entry?.health) this.#useHealth(entry, undefined);
    }
    return ids;
  }

  /** Where other targets take turns, the next requests get another entry: no connection is kept that leads to one which is out. */
  #useHealth(entry: HostEntry, health: ReportedHealth | undefined): HostEntry {
    const { wanted, meter, connections, certificate } = entry;
    if (sameTurns(entry.health, health, wanted.targets)) {
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
    this.#ticker.forget(entry.meter);
  }

  /** The names of the hosts that are not served because they are the server's own. */
  withOwnName(): string[] {
    return [...this.#entries.values()].filter(({ enabled, wanted }) => enabled && !this.#mayAnswer(wanted)).map(({ host }) => host);
  }

  #mayAnswer(wanted: WantedHost): boolean {
    return this.#table.ownNames.mayAnswer(wanted, wanted.host);
  }

  /** Its client is gone, and they with it. */
  removeOf(clientId: number): void {
    for (const id of this.#ofClient.get(clientId) ?? []) this.remove(id);
    this.#ofClient.delete(clientId);
  }

  /** Those of a client. */
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

  /** Whether a name or address is this server, or is served here: sessions of the panel are for nobody behind it. */
  isOwn(host: string): boolean {
    return this.#table.ownNames.has(host) || this.#table.knows(host);
  }

  /** The host that a request goes to (contract 4.7): the very rule that a diagnosis asks. */
  match(request: HostRequest): HostEntry | undefined {
    return this.#table.match(request);
  }

  /**
   * The host that answers for a name in TLS, before any path is known: one with a certificate of its own, with one by ACME, or the first.
   * @param name "" = the visitor named none, as is usual when he asks for an address: the server's own is meant (contract 4.7)
   */
  named(name: string): HostEntry | undefined {
    return this.#table.secure(name === '' ? this.serverName : name);
  }

  /**
   * How the certificate stands that answers for a host; undefined = its TLS is passed through, or it is for HTTP only.
   * @param name the name that is asked for, below a wildcard
   */
  async certificate(id: number, name?: string): Promise<CertificateState | undefined> {
    const entry = this.#entries.get(id);
    if (!entry || entry.scheme === 'http') return undefined;
    // Rules for other paths of the name may have one.
    const certificate = entry.certificate ?? this.#table.named(entry.host, 'https').find((other) => other.host === entry.host && other.certificate)?.certificate;
    return certificate && this.#certificates.state(certificate, name ?? entry.host);
  }

  /** @param blocked why its client can't serve it; "" = it can. @returns undefined = no such host */
  state(id: number, blocked: (host: WantedHost) => string): HostState | undefined {
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    const { connections, rate, refusals, inlet, export: exported } = entry.meter;
    const error = !entry.enabled ? '' : this.#mayAnswer(entry.wanted) ? blocked(entry.wanted) : OWN_NAME;
    return { running: entry.enabled && error === '', error, refusals, connections, rate, inletBytes: inlet, exportBytes: exported, health: entry.health?.state(entry.wanted.targets) ?? null };
  }
}

/** Of the rules of one name first goes one with a certificate of its own, then one with one by ACME. */
function certificateRank({ wanted, certificate }: HostEntry): number {
  if (!certificate) return 2;
  return wanted.certificate === '' ? 1 : 0;
}
