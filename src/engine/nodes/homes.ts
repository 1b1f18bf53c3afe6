/** Where the agent of a client is, or was last. */
export interface Home {
  /** The node's name. */
  readonly node: string;
  /** Higher than that of every earlier home of the client. */
  readonly epoch: number;
  /** Its agent is connected. */
  readonly connected: boolean;
  /** The agent said that it ends, so it does not come back at once. */
  readonly ended: boolean;
}

/** The homes of clients that a node knows. Of two, the one with the higher epoch counts, so that all nodes agree, in whatever order they receive them. */
export class Homes {
  readonly #homes = new Map<number, Home>();
  /** The clients by the name of their home: a node that comes or goes concerns its own clients only, of a million. */
  readonly #byNode = new Map<string, Set<number>>();

  get(clientId: number): Home | undefined {
    return this.#homes.get(clientId);
  }

  /** The epoch of a new home. The time is in it, so that a node that knows no earlier home is not behind. @param now ms since the epoch, by the clock of all nodes */
  nextEpoch(clientId: number, now: number): number {
    return Math.max((this.#homes.get(clientId)?.epoch ?? 0) + 1, Math.floor(now));
  }

  /** @returns whether that was news */
  learn(clientId: number, home: Home): boolean {
    const known = this.#homes.get(clientId);
    if (known !== undefined && !isNewer(home, known)) return false;
    this.#homes.set(clientId, home);
    if (known?.node === home.node) return true;
    if (known) this.#leave(known.node, clientId);
    const clients = this.#byNode.get(home.node);
    if (clients) clients.add(clientId);
    else this.#byNode.set(home.node, new Set([clientId]));
    return true;
  }

  /** The clients whose home a node is, or was last. */
  *of(node: string): Generator<[clientId: number, home: Home]> {
    for (const clientId of this.#byNode.get(node) ?? []) {
      const home = this.#homes.get(clientId);
      if (home) yield [clientId, home];
    }
  }

  /** The client was deleted. */
  forget(clientId: number): void {
    const known = this.#homes.get(clientId);
    if (!known) return;
    this.#homes.delete(clientId);
    this.#leave(known.node, clientId);
  }

  #leave(node: string, clientId: number): void {
    const clients = this.#byNode.get(node);
    clients?.delete(clientId);
    if (clients?.size === 0) this.#byNode.delete(node);
  }
}

function isNewer(home: Home, known: Home): boolean {
  if (home.epoch !== known.epoch) return home.epoch > known.epoch;
  return home.node === known.node ? home.connected !== known.connected : home.node > known.node;
}
