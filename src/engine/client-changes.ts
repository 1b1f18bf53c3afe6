import { setImmediate as nextIteration } from 'node:timers/promises';
import type { StoredClientRecord } from './engine-options.ts';
import { ClientEntry, type ClientParts } from './clients.ts';
import type { Environment } from './environment.ts';
import type { WantedClient } from './face.ts';
import { type VisitorLists, visitorLists } from './limits/visitor-lists.ts';
import { Alarm } from './limits/alarm.ts';
import { NO_BYTES, type StoredBytes } from './limits/meter.ts';
import type { Tunnels } from './tunnels/tunnels.ts';

/** Maximum interval between checks for expired clients, in ms (contract D13), since the clock may be changed. Every use checks, too. */
const SWEEP_MS = 60_000;
/** Tunnels that are synchronized per iteration of the event loop: a user may own thousands of clients that expire together. */
const TOGETHER = 200;

/**
 * Applies changes of clients, expiry included, to agents, listeners and open connections. Its methods must not overlap:
 * the engine calls them one after another.
 */
export class ClientChanges {
  readonly #environment: Environment;
  readonly #tunnels: Tunnels;
  readonly #expiry: Alarm;
  readonly #parts: ClientParts;
  #synchronized = 0;

  constructor(environment: Environment, tunnels: Tunnels) {
    this.#environment = environment;
    this.#tunnels = tunnels;
    const { ticker, admission } = environment;
    this.#parts = { ticker, onExhausted: (entry) => environment.inBackground(async () => admission.enforce(entry)) };
    this.#expiry = new Alarm(() => environment.inBackground(() => this.sweep()));
  }

  /** Adds clients at the start; their tunnels and hosts are added after them. */
  async addAll(records: Iterable<StoredClientRecord>): Promise<void> {
    for (const { wanted, stored, lastAddress } of records) {
      const lists = visitorLists(wanted);
      this.#add(wanted, lists instanceof Promise ? await lists : lists, stored, lastAddress);
    }
  }

  #add(client: WantedClient, lists: VisitorLists, stored: StoredBytes, lastAddress?: string): void {
    const { clients } = this.#environment;
    const entry = new ClientEntry(client, lists, this.#parts, stored, lastAddress);
    // A new client has no session or tunnels to close.
    entry.suspended = entry.blocked(this.#environment.now()) !== '';
    clients.add(entry);
    if (!entry.suspended) this.#awaitExpiry(entry);
  }

  /** Applies the settings of a client, new or known; its agent and its connections end when they are no longer allowed. */
  async apply(client: WantedClient): Promise<void> {
    const { clients, admission } = this.#environment;
    const entry = clients.get(client.id);
    if (!entry) {
      return this.#add(client, await visitorLists(client), NO_BYTES);
    }
    const lists = await entry.readyLists(client);
    const before = entry.wanted;
    clients.update(entry, client, lists);
    if (before.vkey !== client.vkey) entry.closeSessions('key-changed');
    if (before.crypt !== client.crypt) entry.transportChanged(client.crypt);
    if (!client.configAllowed && entry.session?.info.configFile) entry.session.close('config-refused');
    entry.session?.compress(client.compress);
    for (const runner of entry.tunnels) runner.clientChanged();
    await this.sync(entry);
    admission.enforce(entry);
    this.#awaitExpiry(entry);
  }

  /** Applies the client's current permissions to its session and listeners. */
  async sync(entry: ClientEntry): Promise<void> {
    const blocked = entry.blocked(this.#environment.now());
    entry.suspended = blocked !== '';
    if (blocked !== '') entry.closeSessions(blocked);
    for (const runner of entry.tunnels) {
      await runner.sync();
      if (++this.#synchronized % TOGETHER === 0) await nextIteration();
    }
  }

  /** Removes a client with its tunnels and hosts. */
  async remove(id: number): Promise<void> {
    const { clients, hosts } = this.#environment;
    const entry = clients.get(id);
    if (!entry) return;
    for (const runner of entry.tunnels) await this.#tunnels.remove(runner.wanted.id);
    hosts.removeOf(id);
    clients.remove(entry);
    entry.closeSessions('deleted');
    this.#environment.nodes?.forget(id);
  }

  /** Cuts off the clients that have expired since the last call. */
  async sweep(): Promise<void> {
    const now = this.#environment.now();
    for (const entry of this.#environment.clients.all()) {
      if (!entry.suspended && entry.blocked(now) !== '') await this.sync(entry);
    }
    this.awaitExpiries();
  }

  /** Starts to cut off clients when they expire. */
  awaitExpiries(): void {
    this.#expiry.within(SWEEP_MS);
    for (const entry of this.#environment.clients.all()) if (!entry.suspended) this.#awaitExpiry(entry);
  }

  #awaitExpiry({ wanted }: ClientEntry): void {
    if (wanted.expiresAt !== null) this.#expiry.within(wanted.expiresAt - this.#environment.now());
  }

  /** Stops cutting off clients that expire. */
  stop(): void {
    this.#expiry.stop();
  }
}
