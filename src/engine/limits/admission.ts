import { type AddressSet, addressSet } from '../../rules/ip-access.ts';
import type { ClientEntry } from '../clients.ts';
import type { RefusalCause } from '../face.ts';
import type { Carrier } from '../tunnels/tunnel-mode.ts';
import type { Visitors } from './visitors.ts';

/** Who is let in, and who has to go when that changes. */
export class Admission {
  readonly #visitors: Visitors;
  readonly #now: () => number;
  #blackList: AddressSet = addressSet([]);

  constructor(visitors: Visitors, now: () => number) {
    this.#visitors = visitors;
    this.#now = now;
  }

  /** The addresses and networks that are turned away everywhere. */
  set blackIpList(list: readonly string[]) {
    this.#blackList = addressSet(list);
  }

  /** Whether a new connection of the client's visitor may be carried, and by whom; otherwise why not. */
  admit(entry: ClientEntry, address: string): Carrier | RefusalCause {
    const { session, meter } = entry;
    const blocked = entry.blocked(this.#now());
    if (blocked !== '') return blocked;
    const list = entry.turnedAwayBy(address, this.#blackList);
    if (list) return list;
    if (meter.exhausted) return 'flow';
    if (meter.full) return 'connections';
    if (this.#visitors.full) return 'capacity';
    return session ? { session, client: meter } : 'offline';
  }

  /**
   * Cuts the client's connections that would not be let in any more: all of them when its flow limit is passed, those of addresses that
   * are turned away, and the newest of those that are too many.
   */
  enforce(entry: ClientEntry): void {
    const { meter } = entry;
    const { exhausted } = meter;
    for (const connection of meter.open) {
      if (exhausted || entry.turnedAwayBy(connection.remoteAddress, this.#blackList)) connection.cut();
    }
    for (const connection of meter.excess) connection.cut();
  }
}
