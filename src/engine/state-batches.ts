import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Environment } from './environment.ts';
import type { CountedBytes, StateBatch } from './face.ts';
import type { Meter } from './limits/meter.ts';
import type { Tunnels } from './tunnels/tunnels.ts';

/** Records per iteration of the event loop: after a start, every tunnel's state has changed. */
const TOGETHER = 2000;

/** How often "last online" of connected clients is stored, in ms: after a crash it is at most this old. */
const ONLINE_MS = 10 * 60_000;

/** Collects the changes of the running state that have to be stored. */
export class StateBatches {
  readonly #environment: Environment;
  readonly #tunnels: Tunnels;
  #online: NodeJS.Timeout | undefined;

  constructor(environment: Environment, tunnels: Tunnels) {
    this.#environment = environment;
    this.#tunnels = tunnels;
  }

  /** What changed since the last call, gathered in parts. */
  async take(): Promise<StateBatch> {
    const clients: Array<StateBatch['clients'][number]> = [];
    const tunnels: Array<StateBatch['tunnels'][number]> = [];
    const hosts: Array<StateBatch['hosts'][number]> = [];
    let taken = 0;
    for (const meter of this.#environment.ticker.takeChanged()) {
      if (++taken % TOGETHER === 0) await nextIteration();
      if (!this.#counts(meter)) continue;
      // Late bytes of a deleted record are ignored.
      if (meter.owner === 'client') {
        const entry = this.#environment.clients.get(meter.id);
        if (entry?.meter === meter) clients.push({ id: meter.id, ...entry.state(this.#environment.now()) });
      } else if (meter.owner === 'host') {
        if (this.#environment.hosts.get(meter.id)?.meter === meter) hosts.push({ id: meter.id, inletBytes: meter.inlet, exportBytes: meter.export });
      } else if (this.#tunnels.get(meter.id)?.meter === meter) {
        tunnels.push({ id: meter.id, running: this.#tunnels.get(meter.id)?.running === true, inletBytes: meter.inlet, exportBytes: meter.export });
      }
    }
    return { clients, tunnels, hosts };
  }

  /** Whether this server knows the counters of the record: it is the home of the record's client, and knows what was counted before. */
  #counts({ owner, id }: Meter): boolean {
    const { nodes, hosts } = this.#environment;
    if (nodes === undefined) return true;
    const clientId = owner === 'client' ? id : (owner === 'host' ? hosts.get(id) : this.#tunnels.get(id))?.wanted.clientId;
    return clientId === undefined || nodes.counts(clientId);
  }

  /** A batch was not stored: the next one holds all of it again. */
  restore(batch: StateBatch): void {
    for (const { id } of batch.clients) this.#mark(this.#environment.clients.get(id)?.meter);
    for (const { id } of batch.tunnels) this.#mark(this.#tunnels.get(id)?.meter);
    for (const { id } of batch.hosts) this.#mark(this.#environment.hosts.get(id)?.meter);
  }

  /** Subtracts bytes from a record's totals, in the next batch too. */
  reset({ of, id, ...bytes }: { readonly of: Meter['owner']; readonly id: number } & CountedBytes): void {
    const records = of === 'client' ? this.#environment.clients : of === 'tunnel' ? this.#tunnels : this.#environment.hosts;
    records.get(id)?.meter.reset(bytes);
  }

  /** From now on connected clients are stored as online every ten minutes. `stop` must follow. */
  start(): void {
    this.#online = setInterval(() => this.#markOnline(), ONLINE_MS).unref();
  }

  stop(): void {
    clearInterval(this.#online);
  }

  #markOnline(): void {
    for (const entry of this.#environment.clients.all()) {
      if (entry.session) this.#mark(entry.meter);
    }
  }

  #mark(meter: Meter | undefined): void {
    if (meter) this.#environment.ticker.mark(meter);
  }
}
