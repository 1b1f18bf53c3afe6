import { IdTable } from '../rules/id-table.ts';
import { NO_TRAFFIC, trafficSum } from '../rules/traffic-sum.ts';
import { visitorKeyOf } from '../rules/vkey.ts';
import type { ClientEntry } from './clients.ts';
import { type RefusalCause, refusalCauses, type Refusals, type Traffic, type WantedClient } from './face.ts';
import { KeyIndex } from './key-index.ts';
import type { VisitorLists } from './limits/visitor-lists.ts';

/** All clients, by id and by the key id of an agent's handshake. */
export class Clients {
  readonly #byId = new IdTable<ClientEntry>();
  readonly #byKeyId = new KeyIndex<ClientEntry>();
  readonly #byVisitorKey = new Map<string, ClientEntry>();

  get(id: number): ClientEntry | undefined {
    return this.#byId.get(id);
  }

  byKeyId(keyId: string): ClientEntry | undefined {
    return this.#byKeyId.get(keyId);
  }

  all(): Generator<ClientEntry> {
    return this.#byId.values();
  }

  /** The client whose key has this digest (contract 3.2), if it accepts visitors by a password. */
  byVisitorKey(digest: string): ClientEntry | undefined {
    return this.#byVisitorKey.get(digest);
  }

  /** Open connections and bytes of the visitors of clients, together. @param of whether a client counts */
  traffic(of: (clientId: number) => boolean = () => true): Traffic {
    let sum = NO_TRAFFIC;
    for (const { traffic, wanted: { id } } of this.all()) {
      if (of(id)) sum = trafficSum(sum, traffic);
    }
    return sum;
  }

  /** Refused connections of the visitors of all clients by cause, together. */
  refusals(): Refusals {
    const sums: Partial<Record<RefusalCause, number>> = {};
    for (const { usedMeter } of this.all()) {
      if (usedMeter === undefined) continue;
      const { refusals } = usedMeter;
      for (const cause of refusalCauses) if (refusals[cause]) sums[cause] = (sums[cause] ?? 0) + refusals[cause];
    }
    return sums;
  }

  add(entry: ClientEntry): void {
    this.#byId.set(entry.wanted.id, entry);
    this.#addKeys(entry);
  }

  /** Applies new settings; a replaced key no longer identifies the client. */
  update(entry: ClientEntry, wanted: WantedClient, lists: VisitorLists): void {
    this.#removeKeys(entry);
    entry.configure(wanted, lists);
    this.#addKeys(entry);
  }

  remove(entry: ClientEntry): void {
    this.#byId.delete(entry.wanted.id);
    this.#removeKeys(entry);
  }

  #addKeys(entry: ClientEntry): void {
    const { vkey, ipWhitePassword } = entry.wanted;
    this.#byKeyId.set(vkey, entry);
    if (ipWhitePassword !== '') this.#byVisitorKey.set(visitorKeyOf(vkey), entry);
  }

  #removeKeys(entry: ClientEntry): void {
    const { vkey, ipWhitePassword } = entry.wanted;
    // An import may have given the key to another client already.
    this.#byKeyId.delete(vkey, entry);
    if (ipWhitePassword !== '' && this.#byVisitorKey.get(visitorKeyOf(vkey)) === entry) this.#byVisitorKey.delete(visitorKeyOf(vkey));
  }
}
