import type { NodeMessage } from '../../wire/node-messages.ts';
import { inLists } from './changed-records.ts';
import { Gathered } from './gathered.ts';
import type { Homes } from './homes.ts';

/** How long news are gathered before they are sent, in ms. */
const HOMES_MS = 5;

/** What a node tells others of the clients whose home it is, or was last. */
export class HomeNews {
  readonly #own: string;
  readonly #homes: Homes;
  readonly #moved: Gathered<number>;

  /** @param own the name of this node */
  constructor(own: string, homes: Homes, send: (message: NodeMessage) => void) {
    this.#own = own;
    this.#homes = homes;
    this.#moved = new Gathered(HOMES_MS, (ids) => {
      for (const message of this.#messages(ids)) send(message);
    });
  }

  /** The agent of a client has connected to this node, or disconnected. */
  moved(clientId: number): void {
    this.#moved.add(clientId);
  }

  /** All of them, for a node that was just reached. */
  *all(): Generator<NodeMessage> {
    yield* this.#messages(Array.from(this.#homes.of(this.#own), ([id]) => id));
    yield { type: 'allHomes' };
  }

  stop(): void {
    this.#moved.stop();
  }

  *#messages(ids: readonly number[]): Generator<NodeMessage> {
    const homes = ids.flatMap((id): Array<[number, number, boolean, boolean]> => {
      const home = this.#homes.get(id);
      return home?.node === this.#own ? [[id, home.epoch, home.connected, home.ended]] : [];
    });
    for (const part of inLists(homes)) yield { type: 'homes', homes: part };
  }
}
