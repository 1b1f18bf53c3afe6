import { getIntrospectionQuery } from 'graphql';
import { newToken } from '../../src/schema/access/tokens.ts';
import type { TestDatabases } from './database.ts';
import { sized } from './endurance.ts';
import { askHealth, LoopHold, watchedLoop } from './loop-hold.ts';
import { startServer, type ServerProcess } from './processes.ts';
import { seedClients, seedHosts, seedTunnels } from './seed.ts';
import type { TestStore } from './test-store.ts';

/** What the server's main thread may compute between two iterations of its event loop, in ms of its own CPU time. */
const mostHeld = 50;
/** The longest that `/healthz` may take meanwhile, in ms; in the short forms, other suites use the processors too. */
const mostWaited = sized(5000, 100);
/** The best of so many counts: in the short forms, other suites use the processors too. */
const attempts = sized(3, 1);

/** How much there is. A list, a search or an answer that is not done in parts takes a multiple of {@link mostHeld} with few of them, too. */
interface Counts {
  readonly clients: number;
  readonly tunnels: number;
  readonly hosts: number;
  /** The user's tunnels with texts as long as may be. */
  readonly longTexts: number;
  /** Clients of another user with address lists as long as may be. */
  readonly longLists: number;
  /** Clients with two lists as long as an administrator may make them. */
  readonly longestLists: number;
  /** The tunnels of one of these. */
  readonly longestTunnels: number;
}

/** All fields of a tunnel. */
export const tunnelFields = 'id mode remark port serverIp targets localProxy password localPath stripPrefix proxyProtocol enabled noStore createdAt';
/** All fields of a client. */
export const clientFields =
  'id verifyKey remark enabled basicUser compress encrypt configAllowed rateLimit flowLimit maxConnections maxTunnels webUsername blocklist allowlistEnabled allowlist expiresAt effectiveExpiresAt createdAt owner { id username expiresAt } runtime { connected address localAddress version connections rate inletBytes exportBytes lastOnlineAt }';
const runtime = 'runtime { running connections rate inletBytes exportBytes refusals { cause count } health { type targets { target healthy failures } } }';
/** The same field so many times. */
export const aliases = (count: number, text: (n: number) => string) => Array.from({ length: count }, (_, n) => text(n)).join(' ');

/** What a hostile user sends, who owns what the suite has made for them, and the codes of the errors that it is answered with. */
export const operations: Readonly<Record<string, readonly [query: string, code?: string]>> = {
  'tunnels of clients of tunnels': ['{ tunnels { rows { client { tunnels { rows { client { tunnels { rows { id } } } } } } } } }', 'OPERATION_TOO_COSTLY'],
  'the widest list': [`{ tunnels(limit: 200, offset: 300) { rows { ${tunnelFields} client { ${clientFields} } ${runtime} } } }`],
  'a list in a list': [`{ clients(limit: 50) { rows { id tunnels(limit: 50) { total rows { id port remark } } } } }`],
  'many lists': [`{ ${aliases(25, (n) => `a${n}: tunnels(limit: 100, offset: ${n * 100}) { total rows { id port remark enabled password createdAt } }`)} }`],
  'long lists in every row': [`{ tunnels(limit: 200) { rows { ${aliases(28, (n) => `a${n}: targets`)} } } }`, 'RESULT_TOO_LARGE'],
  'lists of clients in every row': ['{ tunnels(limit: 200) { rows { client { blocklist allowlist } } } }', 'RESULT_TOO_LARGE'],
  'long texts in every row': [`{ tunnels(limit: 200) { rows { ${aliases(28, (n) => `a${n}: localPath`)} } } }`, 'RESULT_TOO_LARGE'],
  searches: [`{ ${aliases(11, (n) => `a${n}: tunnels(search: "${'ab'.repeat(400)}${n}", limit: 1) { total }`)} }`],
  '29 searches': [`{ ${aliases(29, (n) => `a${n}: tunnels(search: "x${n}", limit: 1) { total }`)} }`, 'OPERATION_TOO_COSTLY'],
  'orders and offsets': [
    `{ ${aliases(29, (n) => `a${n}: tunnels(sort: { field: REMARK, direction: DESC }, offset: ${4000 - n}, limit: 10) { rows { id } }`)} }`,
  ],
  'filters that look at each of the tunnels': [
    `{ ${
      aliases(11, (n) => `a${n}: tunnels(filter: { connected: false, enabled: true }, sort: { field: TARGET }, offset: ${n}, limit: 1) { total rows { id } }`)
    } }`,
  ],
  introspection: [getIntrospectionQuery()],
  'introspection with aliases': [
    `{ __schema { types { ${aliases(25, (n) => `a${n}: fields { name type { name fields { name description args { name } } } }`)} } } }`,
    'OPERATION_TOO_COSTLY',
  ],
  'the same field a thousand times': [`{ server { ${'version '.repeat(990)} } }`, 'GRAPHQL_VALIDATION_FAILED'],
  'the same fields in many fragments': [
    `{ ${aliases(28, (n) => `...F${n}`)} } ${
      aliases(28, (n) => `fragment F${n} on Query { clients(limit: 1) { rows { ${'id remark verifyKey '.repeat(5)} } } }`)
    }`,
  ],
};

/** A server with many records, some of them a hostile user's, whose event loop is watched. */
export class HostileUser {
  readonly server: ServerProcess;
  readonly tokens: Tokens;
  readonly #hold: LoopHold;
  #sent = 0;

  private constructor(server: ServerProcess, tokens: Tokens) {
    this.server = server;
    this.tokens = tokens;
    this.#hold = new LoopHold(server);
  }

  /** Fills a new database, and starts a server on it. */
  static async start(databases: TestDatabases, counts: Counts): Promise<HostileUser> {
    const database = await databases.create();
    const store = await database.open();
    const tokens = await fill(store, counts);
    await store.close();
    return new HostileUser(await startServer({ dataDir: database.dataDir, environment: { ...watchedLoop, ADIT_DATABASE_URL: database.url } }), tokens);
  }

  /**
   * Runs `work` until the code that it needs is compiled, and then once more, watched. What holds the loop by itself does so each time; what the garbage
   * collector's threads leave to the main one, when other programs have the processors, comes and goes.
   * @returns what is beyond the goal
   */
  async watched(work: () => Promise<unknown>): Promise<string[]> {
    await work();
    for (let left = attempts;; left--) {
      await this.#hold.most();
      const stop = await askHealth(this.server);
      await work();
      const [waited, held] = [await stop(), await this.#hold.most()];
      const problems = [
        ...held > mostHeld ? [`held the event loop for ${held} ms`] : [],
        ...waited > mostWaited ? [`/healthz took ${waited.toFixed(0)} ms`] : [],
      ];
      if (left === 1 || problems.length === 0) return problems;
    }
  }

  /** The answer to an operation. */
  async graphql(query: string, bearer: string): Promise<string> {
    // No two texts are the same: the server remembers those that it has read and checked.
    const body = JSON.stringify({ query: `${query} # ${++this.#sent}` });
    const response = await fetch(`http://127.0.0.1:${this.server.httpPort}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
      body,
    });
    return response.text();
  }

  /** Runs one of the {@link operations} as the user, watched. @returns what is wrong with its answer, and beyond the goal */
  async operate(name: string): Promise<string[]> {
    const [query = '', code] = operations[name] ?? [];
    let answered = '';
    const beyond = await this.watched(async () => {
      answered = await this.graphql(query, this.tokens.token);
    });
    const expected = code === undefined ? /^{"data":{/ : new RegExp(`^{"errors":.*"${code}"`);
    return expected.test(answered) ? beyond : [answered.slice(0, 200), ...beyond];
  }
}

/** API tokens of the hostile user, and of one whose clients have long lists. */
interface Tokens {
  readonly token: string;
  readonly readOnly: string;
  readonly lister: string;
}

/** Clients, tunnels that listen nowhere, hosts, and a user with a share of them who made the most of every text. */
async function fill(store: TestStore, counts: Counts): Promise<Tokens> {
  const { id: userId } = await store.db.user.create({ data: { username: 'hostile', passwordHash: '' } });
  // As long as a user may make them: 64 KB each.
  const long = Array.from({ length: 5000 }, (_, n) => `10.1.${n >> 8}.${n & 255}`).join('\n');
  const clients = await seedClients(
    store,
    counts.clients,
    (n) => ({ userId: n <= 100 ? userId : null, blackIpList: n === 1 ? long : '', ipWhiteList: n === 1 ? long : '', enabled: n % 10 > 0 }),
  );
  const [first = 0] = clients;
  const tunnel = (n: number) => ({
    clientId: n <= 300 ? first : clients[n <= 800 ? n % 100 : n % counts.clients] ?? first,
    mode: 'secret',
    port: 0,
    password: `password ${n}`,
    target: n <= counts.longTexts ? '1\n'.repeat(8000) : `10.0.0.1:${n}`,
    localPath: n <= counts.longTexts ? 'p'.repeat(4000) : '',
  });
  // A transaction has 15 s.
  for (let before = 0; before < counts.tunnels; before += 5000) {
    await seedTunnels(store, first, Math.min(5000, counts.tunnels - before), (n) => tunnel(before + n));
  }
  await seedHosts(store, first, counts.hosts, (n) => ({ clientId: clients[n % 100] ?? first }));
  const { id: listerId } = await store.db.user.create({ data: { username: 'lister', passwordHash: '' } });
  await seedClients(store, counts.longLists, (n) => ({ vkey: `key ${n}`, userId: listerId, blackIpList: long, ipWhiteList: long }));
  // As long as an administrator may make them: 1 MB each.
  const longest = Array.from({ length: 80_000 }, (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`).join('\n');
  const [longestClient = 0] = await seedClients(store, counts.longestLists, (n) => ({ vkey: `long key ${n}`, blackIpList: longest, ipWhiteList: longest }));
  await seedTunnels(
    store,
    longestClient,
    counts.longestTunnels,
    (n) => ({ clientId: longestClient, mode: 'secret', port: 0, password: `one of a client with long lists ${n}` }),
  );
  const tokenOf = async (owner: number, mayOnlyRead: boolean) => {
    const { token, hash } = newToken();
    await store.db.apiToken.create({ data: { userId: owner, name: 'test', hash, readOnly: mayOnlyRead } });
    return token;
  };
  return { token: await tokenOf(userId, false), readOnly: await tokenOf(userId, true), lister: await tokenOf(listerId, true) };
}
