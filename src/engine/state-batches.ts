import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Environment } from './environment.ts';
import type { CountedBytes, StateBatch, Traffic } from './face.ts';
import type { Tunnels } from './tunnels/tunnels.ts';

/** Records per iteration of the event loop: after a start, every tunnel's state has changed. */
const TOGETHER = 2000;

/** How long a node that was frozen waits for the news of the others, in ms. What has changed is stored with the next batch otherwise. */
const NEWS_MS = 3000;

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
    const { closing, nodes } = this.#environment;
    // A last time, what is known is stored all the same.
    if (nodes && !closing && !await nodes.upToDate(NEWS_MS)) return { clients, tunnels, hosts };
    const changed = this.#environment.ticker.takeChanged();
    // Late bytes of a deleted record are ignored: ids are not used again.
    for (const id of changed.client) {
      if (++taken % TOGETHER === 0) await nextIteration();
      const entry = this.#counts('client', id, id) ? this.#environment.clients.get(id) : undefined;
      if (entry) clients.push({ id, ...entry.state(this.#environment.now()) });
    }
    for (const id of changed.tunnel) {
      if (++taken % TOGETHER === 0) await nextIteration();
      const runner = this.#tunnels.get(id);
      if (!runner || !this.#counts('tunnel', id, runner.wanted.clientId)) continue;
      tunnels.push({ id, running: runner.running, ...movedBy(runner.traffic) });
    }
    for (const id of changed.host) {
      if (++taken % TOGETHER === 0) await nextIteration();
      const entry = this.#environment.hosts.get(id);
      if (!entry || !this.#counts('host', id, entry.wanted.clientId)) continue;
      hosts.push({ id, ...movedBy(entry.traffic) });
    }
    return { clients, tunnels, hosts };
  }

  /** Whether this server knows the counters of a client's record: it is the home, and knows what was counted before. If it is about to learn that, the record is in the next batch. */
  #counts(kind: 'client' | 'tunnel' | 'host', id: number, clientId: number): boolean {
    const { nodes, ticker } = this.#environment;
    if (!nodes || nodes.counts(clientId)) return true;
    if (nodes.isHome(clientId)) ticker.mark(kind, id);
    return false;
  }

  /** A batch was not stored: the next one holds all of it again. */
  restore(batch: StateBatch): void {
    const { ticker } = this.#environment;
    for (const { id } of batch.clients) ticker.mark('client', id);
    for (const { id } of batch.tunnels) ticker.mark('tunnel', id);
    for (const { id } of batch.hosts) ticker.mark('host', id);
  }

  /** Subtracts bytes from a record's totals, in the next batch too. */
  reset({ of, id, ...bytes }: { readonly of: 'client' | 'tunnel' | 'host'; readonly id: number } & CountedBytes): void {
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
      if (entry.session) this.#environment.ticker.mark('client', entry.wanted.id);
    }
  }
}

function movedBy({ inletBytes, exportBytes, rate, connections }: Traffic) {
  return { inletBytes, exportBytes, rate, connections };
}
