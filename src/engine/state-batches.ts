import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Clients } from './clients.ts';
import type { StateBatch } from './face.ts';
import type { Meter, Ticker } from './limits/meter.ts';
import type { Tunnels } from './tunnels/tunnels.ts';
import type { Hosts } from './vhost/hosts.ts';

/** Records between two iterations of the event loop: after a start, every tunnel's state has changed. */
const TOGETHER = 2000;

/** Says what of the running state the store should know next. */
export class StateBatches {
  readonly #ticker: Ticker;
  readonly #clients: Clients;
  readonly #tunnels: Tunnels;
  readonly #hosts: Hosts;
  readonly #now: () => number;

  constructor(ticker: Ticker, clients: Clients, tunnels: Tunnels, hosts: Hosts, now: () => number) {
    this.#ticker = ticker;
    this.#clients = clients;
    this.#tunnels = tunnels;
    this.#hosts = hosts;
    this.#now = now;
  }

  /** What changed since the last call, gathered in parts. */
  async take(): Promise<StateBatch> {
    const clients: Array<StateBatch['clients'][number]> = [];
    const tunnels: Array<StateBatch['tunnels'][number]> = [];
    const hosts: Array<StateBatch['hosts'][number]> = [];
    let taken = 0;
    for (const meter of this.#ticker.takeChanged()) {
      if (++taken % TOGETHER === 0) await nextIteration();
      // Late bytes of what was deleted meanwhile are nobody's.
      if (meter.owner === 'client') {
        const entry = this.#clients.get(meter.id);
        if (entry?.meter === meter) clients.push({ id: meter.id, ...entry.state(this.#now()) });
      } else if (meter.owner === 'host') {
        if (this.#hosts.get(meter.id)?.meter === meter) hosts.push({ id: meter.id, inletBytes: meter.inlet, exportBytes: meter.export });
      } else if (this.#tunnels.get(meter.id)?.meter === meter) {
        tunnels.push({ id: meter.id, running: this.#tunnels.get(meter.id)?.running === true, inletBytes: meter.inlet, exportBytes: meter.export });
      }
    }
    return { clients, tunnels, hosts };
  }

  /** A batch was not stored: the next one holds all of it again. */
  restore(batch: StateBatch): void {
    for (const { id } of batch.clients) this.#mark(this.#clients.get(id)?.meter);
    for (const { id } of batch.tunnels) this.#mark(this.#tunnels.get(id)?.meter);
    for (const { id } of batch.hosts) this.#mark(this.#hosts.get(id)?.meter);
  }

  /** The next batch says of every connected client that it is online. */
  markOnline(): void {
    for (const entry of this.#clients.all()) {
      if (entry.session) this.#mark(entry.meter);
    }
  }

  #mark(meter: Meter | undefined): void {
    if (meter) this.#ticker.mark(meter);
  }
}
