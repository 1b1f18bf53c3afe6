import { type HostRequest, type HostRule, HostTable } from '../../rules/host-route.ts';
import type { HostState, WantedHost } from '../face.ts';
import { Meter, type StoredBytes, type Ticker } from '../limits/meter.ts';

/** One host as it is routed to. A changed one is another entry with the same meter. */
export class HostEntry implements HostRule {
  readonly wanted: WantedHost;
  readonly meter: Meter;
  /** The target that is used first for the next connection. */
  next = 0;
  readonly id: number;
  readonly host: string;
  readonly location: string;
  readonly scheme: WantedHost['scheme'];
  readonly enabled: boolean;

  constructor(wanted: WantedHost, meter: Meter) {
    this.wanted = wanted;
    this.meter = meter;
    this.id = wanted.id;
    this.host = wanted.host;
    this.location = wanted.location;
    this.scheme = wanted.scheme;
    this.enabled = wanted.enabled;
  }
}

/** All hosts, and which of them a request goes to. A change holds from the next request on. */
export class Hosts {
  readonly #ticker: Ticker;
  readonly #table = new HostTable<HostEntry>();
  readonly #entries = new Map<number, HostEntry>();
  readonly #ofClient = new Map<number, Set<number>>();

  constructor(ticker: Ticker) {
    this.#ticker = ticker;
  }

  /** Adds a host or changes it. @param stored what a new one has moved before */
  set(wanted: WantedHost, stored: StoredBytes = { inletBytes: 0, exportBytes: 0 }): void {
    const old = this.#entries.get(wanted.id);
    if (old && old.wanted.clientId !== wanted.clientId) this.#ofClient.get(old.wanted.clientId)?.delete(wanted.id);
    const entry = new HostEntry(wanted, old?.meter ?? new Meter(this.#ticker, 'host', wanted.id, stored));
    this.#entries.set(wanted.id, entry);
    this.#table.set(entry);
    const ids = this.#ofClient.get(wanted.clientId);
    if (ids) ids.add(wanted.id);
    else this.#ofClient.set(wanted.clientId, new Set([wanted.id]));
  }

  remove(id: number): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    this.#table.delete(id);
    this.#ofClient.get(entry.wanted.clientId)?.delete(id);
    this.#ticker.forget(entry.meter);
  }

  /** Its client is gone, and they with it. */
  removeOf(clientId: number): void {
    for (const id of this.#ofClient.get(clientId) ?? []) this.remove(id);
    this.#ofClient.delete(clientId);
  }

  get(id: number): HostEntry | undefined {
    return this.#entries.get(id);
  }

  /** The host that a request goes to (contract 4.7): the very rule that a diagnosis asks. */
  match(request: HostRequest): HostEntry | undefined {
    return this.#table.match(request);
  }

  /** undefined = no such host */
  state(id: number): HostState | undefined {
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    const { connections, rate, inlet, export: exported } = entry.meter;
    return { connections, rate, inletBytes: inlet, exportBytes: exported };
  }
}
