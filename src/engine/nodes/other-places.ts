import { isDeepStrictEqual } from 'node:util';
import { MAX_OTHER_SERVERS, type OtherServer } from '../../wire/other-servers.ts';
import type { NodePeer } from './node-link.ts';

/** Where agents and visitor programs can go instead of this node. Nodes that are leaving take no agents. */
export class OtherPlaces {
  readonly #own: string;
  readonly #onChanged: (others: readonly OtherServer[]) => void;
  readonly #leaving = new Set<string>();
  #places: readonly NodePeer[] = [];
  #others: readonly OtherServer[] = [];

  /** @param own the name of this node */
  constructor(own: string, onChanged: (others: readonly OtherServer[]) => void) {
    this.#own = own;
    this.#onChanged = onChanged;
  }

  /** From the one after this on: if there are many, each node tells of different ones. */
  get others(): readonly OtherServer[] {
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
    const after = others.filter(({ name }) => name > this.#own);
    const reported = [...after, ...others.slice(0, others.length - after.length)].slice(0, MAX_OTHER_SERVERS)
      .map(({ host, bridgePort, port }) => ({ host, port: bridgePort, tlsPort: port }));
    if (isDeepStrictEqual(reported, this.#others)) return;
    this.#others = reported;
    this.#onChanged(reported);
  }
}
