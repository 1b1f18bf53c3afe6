import type { SqliteColumn } from './binding.ts';
import { TooLongError } from './failure.ts';
import { HotConnection } from './hot-connection.ts';
import type { Part, ReaderRequest } from './protocol.ts';
import { settle, type Reply } from './reply.ts';
import { Searches } from './search.ts';

/** Maximum rows of a part of a response: decoding a part blocks the main thread. */
const PART_ROWS = 500;
const PART_CHARACTERS = 262_144;

/** Rows that were not all requested yet. */
interface Rest {
  readonly rows: readonly string[];
  sent: number;
}

/** Runs reads that may take long: searches, lists without a limit, counts of many rows. */
export class Reader {
  readonly #connection: HotConnection;
  readonly #rests = new Map<number, Rest>();
  readonly #searches: Searches;
  #last = 0;

  /**
   * @param guarded runs work that continues in a later iteration of the event loop
   * @throws SQLite's error when the file can't be opened
   */
  constructor(file: string, guarded: (work: () => void) => void) {
    this.#connection = new HotConnection(file);
    this.#searches = new Searches(this.#connection, (work) => setImmediate(() => guarded(work)));
  }

  serve(request: ReaderRequest, reply: Reply): void {
    switch (request[0]) {
      case 'rows': {
        const [, sql, values, most] = request;
        return settle(reply, () => {
          if (most !== undefined && this.#connection.bytes(sql, values) > most) throw new TooLongError('the rows hold too much text');
          const { columns, rows } = this.#connection.rows(sql, values);
          return this.#part(columns, ++this.#last, { rows, sent: 0 });
        });
      }
      case 'next': {
        const [, number] = request;
        return settle(reply, () => {
          const rest = this.#rests.get(number);
          if (rest === undefined) throw new Error(`no rows are left of ${number}`);
          return this.#part([], number, rest);
        });
      }
      case 'search': {
        const [, search, mostMs] = request;
        return this.#searches.run(search, mostMs, reply);
      }
      case 'close':
        return settle(reply, () => this.#connection.close());
    }
  }

  #part(columns: readonly SqliteColumn[], number: number, rest: Rest): Part {
    const json: string[] = [];
    let characters = 0;
    while (rest.sent < rest.rows.length && json.length < PART_ROWS && characters < PART_CHARACTERS) {
      const row = rest.rows[rest.sent++] ?? '';
      json.push(row);
      characters += row.length;
    }
    const ended = rest.sent === rest.rows.length;
    if (ended) this.#rests.delete(number);
    else this.#rests.set(number, rest);
    return [columns, `[${json.join(',')}]`, ended ? 0 : number];
  }
}
