import type { HostRule } from '../../rules/host-route.ts';
import { START_CREDIT } from '../../wire/stream.ts';
import type { Refusals, Traffic, WantedHost } from '../face.ts';
import { healthyTargets, type ReportedHealth } from '../health/reported-health.ts';
import { keptBytes, Meter, refusalsOf, type StoredBytes, type Ticker, trafficOf } from '../limits/meter.ts';
import type { Visitors } from '../limits/visitors.ts';
import type { Sibling } from '../siblings.ts';
import { Connections } from '../tunnels/connections.ts';
import { TargetRotation } from '../tunnels/target-rotation.ts';
import { type HostFields, hostFields } from './target/host-fields.ts';
import type { Certificate } from './tls/certificate.ts';

/** The same for all hosts. */
export interface HostParts {
  readonly ticker: Ticker;
  readonly visitors: Visitors;
  /** How long a target may take to answer. */
  readonly dialMs: number;
}

/** What visitors of a host use. */
class UsedHost {
  readonly meter: Meter;
  readonly connections: Connections;
  readonly targets: TargetRotation;
  readonly secureTargets: TargetRotation;
  readonly fields: HostFields;

  /** @param before what this continues, or the totals of the host */
  constructor({ wanted, health }: HostEntry, { ticker, visitors, dialMs }: HostParts, before: UsedHost | StoredBytes) {
    const used = before instanceof UsedHost ? before : undefined;
    this.meter = before instanceof UsedHost ? before.meter : new Meter(ticker, 'host', wanted.id, before);
    this.connections = used?.connections ?? new Connections(this.meter, visitors);
    const targets = healthyTargets(health, wanted.targets);
    this.targets = new TargetRotation({ kind: 'dial', by: `host ${wanted.id}`, timeoutMs: dialMs, credit: START_CREDIT }, targets, used?.targets);
    this.secureTargets = new TargetRotation({ kind: 'tcp', by: `host ${wanted.id}` }, targets, used?.secureTargets);
    this.fields = hostFields(wanted);
  }
}

/** One host as it is routed to. After a change, a new entry with the same totals replaces it. */
export class HostEntry implements HostRule, Sibling<HostEntry> {
  readonly wanted: WantedHost;
  /** undefined = none: for HTTPS, TLS is passed through to the target. */
  readonly certificate: Certificate | undefined;
  /** undefined = its targets are not checked. */
  health: ReportedHealth | undefined;
  readonly #parts: HostParts;
  /** Until its first visitor: its totals. */
  #used: UsedHost | StoredBytes;
  next: HostEntry | undefined;
  previous: HostEntry | undefined;

  /** @param before the entry that this one replaces, or the totals of a new host */
  constructor({ wanted, certificate, health }: Pick<HostEntry, 'wanted' | 'certificate' | 'health'>, parts: HostParts, before: HostEntry | StoredBytes) {
    this.wanted = wanted;
    this.certificate = certificate;
    this.health = health;
    this.#parts = parts;
    const used = before instanceof HostEntry ? before.#used : keptBytes(before);
    this.#used = used instanceof UsedHost ? new UsedHost(this, parts, used) : used;
  }

  /** Made with the first visitor: most hosts of a large installation are idle. */
  get #visited(): UsedHost {
    return this.#used instanceof UsedHost ? this.#used : this.#used = new UsedHost(this, this.#parts, this.#used);
  }

  get meter(): Meter {
    return this.#visited.meter;
  }

  /** Connections to its targets. */
  get connections(): Connections {
    return this.#visited.connections;
  }

  /** For requests: the agent reports the result of the dial. */
  get targets(): TargetRotation {
    return this.#visited.targets;
  }

  /** For TLS that is passed through. */
  get secureTargets(): TargetRotation {
    return this.#visited.secureTargets;
  }

  /** What it sets in the heads of requests. */
  get fields(): HostFields {
    return this.#visited.fields;
  }

  get traffic(): Traffic {
    return trafficOf(this.#used instanceof UsedHost ? this.#used.meter : this.#used);
  }

  get refusals(): Refusals {
    return refusalsOf(this.#used instanceof UsedHost ? this.#used.meter : this.#used);
  }

  /** Closes the connections to its targets. */
  closeConnections(): void {
    if (this.#used instanceof UsedHost) this.#used.connections.closeAll();
  }

  get id(): number {
    return this.wanted.id;
  }

  get host(): string {
    return this.wanted.host;
  }

  get location(): string {
    return this.wanted.location;
  }

  get scheme(): WantedHost['scheme'] {
    return this.wanted.scheme;
  }

  get enabled(): boolean {
    return this.wanted.enabled;
  }

  get namedByAdmin(): boolean {
    return this.wanted.namedByAdmin;
  }
}
