import type { Opener } from '../../wire/stream.ts';
import { AddressSet } from '../../rules/ip-access.ts';
import type { ClientEntry } from '../clients.ts';
import type { RefusalCause } from '../face.ts';
import type { ClientUsage } from './client-usage.ts';
import type { Visitors } from './visitors.ts';

/** The session that carries a new connection, and the client that it counts for. */
export interface Carrier {
  readonly session: Opener;
  readonly client: ClientUsage;
}

/** Admits visitors' connections, and closes those that a change no longer admits. */
export class Admission {
  readonly #visitors: Visitors;
  readonly #now: () => number;
  readonly #local: Opener | undefined;
  #blackList: AddressSet = AddressSet.none;

  /** @param local connects from the server itself; undefined = not allowed (contract D15) */
  constructor(visitors: Visitors, now: () => number, local: Opener | undefined) {
    this.#visitors = visitors;
    this.#now = now;
    this.#local = local;
  }

  /** Replaces the global blacklist, which may be long. */
  async setBlackIpList(list: readonly string[]): Promise<void> {
    this.#blackList = await AddressSet.gradually(list);
  }

  /** Replaces the list, and closes the connections of these clients that it refuses. */
  async changeBlackIpList(list: readonly string[], clients: Iterable<ClientEntry>): Promise<void> {
    await this.setBlackIpList(list);
    for (const entry of clients) this.enforce(entry);
  }

  /**
   * Whether a new connection of the client's visitor is admitted: the session that carries it, or the cause of refusal.
   * @param localProxy the server dials the target, not the agent
   * @param elsewhere leads to the client's home, where the client's limits are known
   */
  admit(entry: ClientEntry, address: string, localProxy: boolean, elsewhere?: Opener): Carrier | RefusalCause {
    const { meter } = entry;
    const now = this.#now();
    const blocked = entry.blocked(now);
    if (blocked !== '') return blocked;
    const list = entry.turnedAwayBy(address, this.#blackList, now);
    if (list) return list;
    if (elsewhere) return this.#visitors.hasRoom(address) ? { session: elsewhere, client: meter } : 'capacity';
    if (meter.exhausted) return 'flow';
    if (meter.full) return 'connections';
    if (!this.#visitors.hasRoom(address)) return 'capacity';
    const session = localProxy ? this.#local : entry.session;
    if (session) return { session, client: meter };
    return localProxy ? 'localProxy' : 'offline';
  }

  /**
   * Closes the client's connections that would no longer be admitted: all of them if its flow limit is exceeded, those of refused
   * addresses, and the newest ones beyond its connection limit.
   */
  enforce(entry: ClientEntry): void {
    const meter = entry.usedMeter;
    if (!meter) return;
    const { exhausted } = meter;
    const now = this.#now();
    for (const connection of [...meter.open]) {
      if (exhausted || entry.turnedAwayBy(connection.remoteAddress, this.#blackList, now)) connection.cut();
    }
    for (const connection of meter.excess) connection.cut();
  }
}
