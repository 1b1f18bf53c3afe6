import { NODE_LIST } from '../../wire/node-messages.ts';
import type { Environment } from '../environment.ts';
import type { EngineEvent } from '../face.ts';
import { Gathered } from './gathered.ts';

/** How long news are gathered before they are sent, in ms. */
const CHANGED_MS = 50;

/** A record whose state has changed: a client, tunnel or host, and its id. */
export type ChangedRecord = [kind: EngineEvent['kind'], id: number];

/** Gathers the records whose state changes here, as news for other nodes. What another node has caused here does not go back. */
export class ChangedRecords {
  readonly #gathered: Gathered<string>;
  readonly #unwatch: () => void;
  /** An event of another node is being published here. */
  #hearing = false;

  /** @param send called with the records that changed, in lists that fit a message */
  constructor(environment: Pick<Environment, 'watch'>, send: (records: ChangedRecord[]) => void) {
    this.#gathered = new Gathered(CHANGED_MS, (records) => {
      for (const part of inLists(records.flatMap(parsed))) send(part);
    });
    this.#unwatch = environment.watch(({ kind, id }) => {
      if (!this.#hearing) this.#gathered.add(`${kind} ${id}`);
    });
  }

  /** Runs what another node has caused. */
  hear(work: () => void): void {
    this.#hearing = true;
    try {
      work();
    } finally {
      this.#hearing = false;
    }
  }

  stop(): void {
    this.#unwatch();
    this.#gathered.stop();
  }
}

function parsed(record: string): ChangedRecord[] {
  const [kind, id] = record.split(' ');
  return kind === 'client' || kind === 'tunnel' || kind === 'host' ? [[kind, Number(id)]] : [];
}

/** Divides a list into those that fit a message between nodes. */
export function* inLists<T>(all: readonly T[]): Generator<T[]> {
  for (let start = 0; start < all.length; start += NODE_LIST) yield all.slice(start, start + NODE_LIST);
}
