import { isDeepStrictEqual } from 'node:util';
import pino from 'pino';
import { Attempts } from '../../src/rules/attempts.ts';
import { createServices } from '../../src/schema/services.ts';
import { wantedState } from '../../src/schema/writes/engine-changes.ts';
import { parseLogged } from '../../src/schema/writes/logged-changes.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { apart } from './apart.ts';
import { FakeEngine } from './engine.ts';
import { schemaSettings } from './schema-settings.ts';

const kinds = ['client', 'tunnel', 'host'] as const;
const log = pino({ level: 'silent' });

/** A node that was on a database before the one of a suite. It follows the log of changes, and has to end with what is stored. */
export class FirstNode {
  readonly #store: Store;
  readonly #engine: FakeEngine;
  readonly #reload: () => Promise<void>;
  /** The last commit when the database was emptied. */
  #since = 0;

  private constructor(store: Store, engine: FakeEngine, reload: () => Promise<void>) {
    this.#store = store;
    this.#engine = engine;
    this.#reload = reload;
  }

  /** Opens the database, migrates it, and joins as a node. */
  static async open(url: string, dataDir: string): Promise<FirstNode> {
    const store = await openStore({ url, dataDir, log });
    const engine = new FakeEngine();
    const freshState = () => Promise.resolve();
    const services = createServices({ store, engine: apart(engine), attempts: new Attempts(), freshState, log, now: Date.now, settings: schemaSettings });
    store.follower.start(services.catchUp);
    return new FirstNode(store, engine, () => store.follower.inOrder(() => services.catchUp.reload()));
  }

  /** The database was emptied, without the log of changes. */
  async emptied(): Promise<void> {
    await this.#store.follower.look();
    await this.#reload();
    this.#since = this.#store.follower.figures.seq;
  }

  /** The other node has added to the log of changes. */
  committed(): void {
    this.#store.follower.lookSoon();
  }

  /**
   * @param second the engine of the other node: what a test has put into the database without the log of changes, neither knows
   * @throws {Error} if this node does not have the records that were changed since the database was emptied as they are stored
   */
  async agrees(second: FakeEngine | undefined): Promise<void> {
    await this.#store.follower.look();
    const commits = await this.#store.db.loggedCommit.findMany({ where: { seq: { gt: this.#since } } });
    const { clients, tunnels, hosts } = wantedState(await this.#store.loadEngineState());
    const stored = { client: await byId(clients), tunnel: await byId(tunnels), host: await byId(hosts) };
    const changed = commits.flatMap(({ changes }) => parseLogged(changes));
    for (const kind of kinds) {
      for (const id of new Set(changed.flatMap((change) => change.resource === kind ? [change.id] : []))) {
        const [here, there, other] = [wantedOf(this.#engine, kind).get(id), stored[kind].get(id), second && wantedOf(second, kind).get(id)];
        if (isDeepStrictEqual(here, there) || second && isDeepStrictEqual(here, other)) continue;
        throw new Error(`the first node has the ${kind} ${id} as ${JSON.stringify(here)}, stored is ${JSON.stringify(there)}`);
      }
    }
  }

  async close(): Promise<void> {
    await this.#store.follower.stop();
    await this.#store.close();
  }
}

function wantedOf(engine: FakeEngine, kind: typeof kinds[number]): ReadonlyMap<number, object> {
  return { client: engine.wantedClients, tunnel: engine.wantedTunnels, host: engine.wantedHosts }[kind];
}

async function byId<Wanted extends { readonly id: number }>(pages: AsyncIterable<Iterable<{ readonly wanted: Wanted }>>): Promise<Map<number, Wanted>> {
  const found = new Map<number, Wanted>();
  for await (const rows of pages) for (const { wanted } of rows) found.set(wanted.id, wanted);
  return found;
}
