import { isDeepStrictEqual } from 'node:util';
import { MAX_OTHER_SERVERS, type OtherServers } from '../../wire/other-servers.ts';
import type { NodePeer } from './node-link.ts';

/** Where agents and visitor programs can go instead of this node. Nodes that are leaving take no agents. */
export class OtherPlaces {
  readonly #own: string;
  readonly #siblings: ReadonlySet<string>;
  readonly #onChanged: (others: OtherServers) => void;
  readonly #leaving = new Set<string>();
  #places: readonly NodePeer[] = [];
  #others: OtherServers = { servers: [], here: false };

  /** @param own the name of this node @param siblings those at the same address */
  constructor(own: string, siblings: ReadonlySet<string>, onChanged: (others: OtherServers) => void) {
    this.#own = own;
    this.#siblings = siblings;
    this.#onChanged = onChanged;
  }

  /** From the one after this on: if there are many, each node tells of different ones. */
  get others(): OtherServers {
    return this.#others;
  }

  /** The names of all other nodes. */
  get names(): readonly string[] {
    return this.#places.flatMap(({ name }) => name === this.#own ? [] : [name]);
  }

  /** All nodes that there are now. @returns whether others are among them than before */
  use(places: readonly NodePeer[]): boolean {
    const before = new Set(this.names);
    this.#places = places;
    this.#compare();
    return before.size !== this.names.length || this.names.some((name) => !before.has(name));
  }

  /** One more node, or another address of one. */
  add(place: NodePeer): void {
    this.use([...this.#places.filter(({ name }) => name !== place.name), place]);
  }

  /** Whether the others are to take over the clients of a node. */
  isLeaving(node: string): boolean {
    return this.#leaving.has(node);
  }

  /** The others are to take over the clients of a node, or no longer. @returns whether that is news */
  leaves(node: string, on: boolean): boolean {
    if (this.#leaving.has(node) === on) return false;
    if (on) this.#leaving.add(node);
    else this.#leaving.delete(node);
    this.#compare();
    return true;
  }

  #compare(): void {
    const others = this.#places.filter(({ name }) => name !== this.#own && !this.#leaving.has(name)).toSorted((one, other) => one.name < other.name ? -1 : 1);
    const elsewhere = others.filter(({ name }) => !this.#siblings.has(name));
    const after = elsewhere.filter(({ name }) => name > this.#own);
    const places = [...after, ...elsewhere.slice(0, elsewhere.length - after.length)]
      .map(({ host, port, bridgePort, tlsPort = port }) => [`${host} ${bridgePort}`, { host, port: bridgePort, tlsPort }] as const);
    // Processes of one machine have one address.
    const reported = { servers: [...new Map(places).values()].slice(0, MAX_OTHER_SERVERS), here: elsewhere.length < others.length };
    if (isDeepStrictEqual(reported, this.#others)) return;
    this.#others = reported;
    this.#onChanged(reported);
  }
}
