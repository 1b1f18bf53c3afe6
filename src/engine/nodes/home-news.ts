import type { NodeMessage } from '../../wire/node-messages.ts';
import { inLists } from './changed-records.ts';
import { Gathered } from './gathered.ts';
import type { Homes } from './homes.ts';
import type { NodeLink } from './node-link.ts';

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

  /** Sends all of them to a node that was just reached, the next part when the connection has accepted the one before: together they may be more than a session may queue. */
  tellAll(link: Pick<NodeLink, 'send' | 'whenTaken'>): void {
    const messages = this.#all();
    const next = (): void => {
      const { value, done } = messages.next();
      if (done) return;
      link.send(value);
      link.whenTaken(next);
    };
    next();
  }

  /** What has changed since the start is sent as it is when its turn comes, or as news. */
  *#all(): Generator<NodeMessage, undefined> {
    const ids = Array.from(this.#homes.of(this.#own), ([id]) => id);
    for (const part of inLists(ids)) yield* this.#messages(part);
    yield { type: 'allHomes' };
    return undefined;
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
