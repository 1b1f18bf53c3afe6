import type { Opener } from '../../wire/stream.ts';
import { AddressSet, addressSet } from '../../rules/ip-access.ts';
import type { ClientEntry } from '../clients.ts';
import type { RefusalCause } from '../face.ts';
import type { Account } from './account.ts';
import type { Visitors } from './visitors.ts';

/** Who carries a new connection and for whom it counts. */
export interface Carrier {
  readonly session: Opener;
  readonly client: Account;
}

/** Who is let in, and who has to go when that changes. */
export class Admission {
  readonly #visitors: Visitors;
  readonly #now: () => number;
  readonly #local: Opener | undefined;
  #blackList: AddressSet = addressSet([]);

  /** @param local connects from the server itself; undefined = that is not allowed (contract D15) */
  constructor(visitors: Visitors, now: () => number, local: Opener | undefined) {
    this.#visitors = visitors;
    this.#now = now;
    this.#local = local;
  }

  /** Takes the addresses and networks that are turned away everywhere: perhaps very many. */
  async setBlackIpList(list: readonly string[]): Promise<void> {
    this.#blackList = await AddressSet.gradually(list);
  }

  /** Takes another list, and cuts the connections of these clients that it turns away. */
  async changeBlackIpList(list: readonly string[], clients: Iterable<ClientEntry>): Promise<void> {
    await this.setBlackIpList(list);
    for (const entry of clients) this.enforce(entry);
  }

  /**
   * Whether a new connection of the client's visitor may be carried, and by whom; otherwise why not.
   * @param localProxy the server is to dial the target, not the agent
   */
  admit(entry: ClientEntry, address: string, localProxy: boolean): Carrier | RefusalCause {
    const { meter } = entry;
    const now = this.#now();
    const blocked = entry.blocked(now);
    if (blocked !== '') return blocked;
    const list = entry.turnedAwayBy(address, this.#blackList, now);
    if (list) return list;
    if (meter.exhausted) return 'flow';
    if (meter.full) return 'connections';
    if (!this.#visitors.hasRoom(address)) return 'capacity';
    const session = localProxy ? this.#local : entry.session;
    if (session) return { session, client: meter };
    return localProxy ? 'localProxy' : 'offline';
  }

  /**
   * Cuts the client's connections that would not be let in any more: all of them when its flow limit is passed, those of addresses that
   * are turned away, and the newest of those that are too many.
   */
  enforce(entry: ClientEntry): void {
    const { meter } = entry;
    const { exhausted } = meter;
    const now = this.#now();
    for (const connection of meter.open) {
      if (exhausted || entry.turnedAwayBy(connection.remoteAddress, this.#blackList, now)) connection.cut();
    }
    for (const connection of meter.excess) connection.cut();
  }
}
