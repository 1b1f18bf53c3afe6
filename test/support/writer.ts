import { z } from 'zod';
import { call, type Parameters, type ServerProcess } from './processes.ts';

/** A client or tunnel as a writer made it. Each write sets several fields to the same number, so that half a write shows. */
interface WrittenRecord {
  readonly n: number;
  readonly enabled: boolean;
  /** The key of a tunnel's client. */
  readonly client?: string;
}

/** Records by their key, which is a client's verification key or a tunnel's password, and never changes. */
export type Written = Readonly<Record<string, WrittenRecord>>;

/** What a writer had done when the server was gone. */
export interface WriterOutcome {
  /** With every write that was acknowledged. */
  readonly acknowledged: Written;
  /** And with the one that was under way. */
  readonly attempted: Written;
}

/** Begins the keys of all that writers make. */
const PREFIX = 'writer';

/** Adds more than it deletes. */
const steps = [
  'addClient',
  'addTunnel',
  'stopTunnel',
  'addTunnel',
  'editClient',
  'editTunnel',
  'addTunnel',
  'startTunnel',
  'addClient',
  'addTunnel',
  'deleteTunnel',
  'deleteClient',
] as const;

/** A call, and the records when it has been done. */
interface Write {
  readonly route: string;
  readonly parameters: Parameters;
  readonly done: Written;
}

/** Adds, edits, stops, starts and deletes records of its own, one after another, and remembers what was acknowledged. */
export class Writer {
  readonly #name: string;
  #n = 0;

  /** @param number tells it from the others */
  constructor(number: number) {
    this.#name = `${PREFIX}${number}`;
  }

  /** Its own records among those of all writers. */
  own(all: Written): Written {
    return Object.fromEntries(Object.entries(all).filter(([key]) => key.startsWith(`${this.#name}-`)));
  }

  /**
   * Writes until the server is gone.
   * @param ids of the records that there are
   * @param onWrite called after every acknowledged write
   * @throws when a write is refused
   */
  async run(server: Pick<ServerProcess, 'httpPort'>, before: Written, ids: Map<string, number>, onWrite: () => void): Promise<WriterOutcome> {
    for (let acknowledged = before;;) {
      const { route, parameters, done } = this.#next(acknowledged, ids);
      let answer: unknown;
      try {
        answer = await call(server, route, parameters);
      } catch {
        return { acknowledged, attempted: done }; // the server is gone; what became of the write, its records will tell
      }
      const { status, id } = z.object({ status: z.number(), id: z.number().optional() }).parse(answer);
      if (status !== 1) throw new Error(`${route} ${JSON.stringify(parameters)} was refused: ${JSON.stringify(answer)}`);
      const [added] = Object.keys(done).filter((key) => !(key in acknowledged));
      if (added !== undefined && id !== undefined) ids.set(added, id);
      acknowledged = done;
      onWrite();
    }
  }

  /** The next write of the cycle that is possible. */
  #next(records: Written, ids: ReadonlyMap<string, number>): Write {
    for (;;) {
      const n = ++this.#n;
      const write = this.#write(steps[n % steps.length] ?? 'addClient', n, records, ids);
      if (write) return write;
    }
  }

  #write(step: typeof steps[number], n: number, records: Written, ids: ReadonlyMap<string, number>): Write | undefined {
    const clientFields = { remark: n, rate_limit: n, max_conn: n };
    const tunnelFields = { remark: n, target: `127.0.0.1:${n}` };
    if (step === 'addClient') {
      const key = `${this.#name}-client${n}`;
      return { route: '/client/add/', parameters: { vkey: key, ...clientFields }, done: { ...records, [key]: { n, enabled: true } } };
    }
    const isTunnel = step.endsWith('Tunnel') && step !== 'addTunnel';
    const candidates = Object.entries(records).filter(([, { client }]) => (client !== undefined) === isTunnel);
    const [key, record] = candidates[n % candidates.length] ?? [];
    const id = ids.get(key ?? '');
    if (key === undefined || record === undefined || id === undefined) return undefined;
    const changed = (change: Partial<WrittenRecord>): Written => ({ ...records, [key]: { ...record, ...change } });
    switch (step) {
      case 'editClient':
        return { route: '/client/edit/', parameters: { id, ...clientFields }, done: changed({ n }) };
      case 'editTunnel':
        return { route: '/index/edit/', parameters: { id, ...tunnelFields }, done: changed({ n }) };
      case 'stopTunnel':
        return { route: '/index/stop/', parameters: { id }, done: changed({ enabled: false }) };
      case 'startTunnel':
        return { route: '/index/start/', parameters: { id }, done: changed({ enabled: true }) };
      case 'deleteTunnel':
        return { route: '/index/del/', parameters: { id }, done: without(records, key) };
      case 'deleteClient':
        return { route: '/client/del/', parameters: { id }, done: without(records, key) };
      case 'addTunnel': {
        const added = `${this.#name}-tunnel${n}`;
        const parameters = { client_id: id, type: 'tcp', port: 0, server_ip: '127.0.0.1', password: added, ...tunnelFields };
        return { route: '/index/add/', parameters, done: { ...records, [added]: { n, enabled: true, client: key } } };
      }
      default:
        return step satisfies never;
    }
  }
}

/** The records without one, and without the tunnels of it. */
function without(records: Written, key: string): Written {
  return Object.fromEntries(Object.entries(records).filter(([other, { client }]) => other !== key && client !== key));
}

const clientRow = z.object({ Id: z.number(), VerifyKey: z.string(), Remark: z.string(), RateLimit: z.number(), MaxConn: z.number(), Status: z.boolean() });
const tunnelRow = z.object({
  Id: z.number(),
  Password: z.string(),
  Remark: z.string(),
  Status: z.boolean(),
  RunStatus: z.boolean(),
  Port: z.number(),
  Target: z.object({ TargetStr: z.string() }),
  Client: z.object({ VerifyKey: z.string() }),
});
const listOf = <T extends z.ZodType>(row: T) => z.object({ rows: z.array(row), total: z.number() });

/** All tunnels of a server, and what the writers made. */
export interface Observed {
  readonly written: Written;
  readonly ids: Map<string, number>;
  readonly tunnels: readonly z.output<typeof tunnelRow>[];
}

/** Reads all clients and tunnels. @throws when a record is half written, or a total is not the number of rows */
export async function observe(server: Pick<ServerProcess, 'httpPort'>): Promise<Observed> {
  const clients = listOf(clientRow).parse(await call(server, '/client/list/'));
  const tunnels = listOf(tunnelRow).parse(await call(server, '/index/gettunnel/'));
  for (const { rows, total } of [clients, tunnels]) {
    if (rows.length !== total) throw new Error(`a list of ${rows.length} rows says that there are ${total}`);
  }
  const ours = {
    clients: clients.rows.filter(({ VerifyKey }) => VerifyKey.startsWith(PREFIX)),
    tunnels: tunnels.rows.filter(({ Password }) => Password.startsWith(PREFIX)),
  };
  const torn = [
    ...ours.clients.filter(({ Remark, RateLimit, MaxConn }) => Number(Remark) !== RateLimit || RateLimit !== MaxConn),
    ...ours.tunnels.filter(({ Remark, Target }) => Target.TargetStr !== `127.0.0.1:${Remark}`),
  ];
  if (torn.length > 0) throw new Error(`half written: ${JSON.stringify(torn)}`);
  return {
    tunnels: tunnels.rows,
    ids: new Map([
      ...ours.clients.map(({ VerifyKey, Id }): [string, number] => [VerifyKey, Id]),
      ...ours.tunnels.map(({ Password, Id }): [string, number] => [Password, Id]),
    ]),
    written: Object.fromEntries<WrittenRecord>([
      ...ours.clients.map(({ VerifyKey, RateLimit: n, Status: enabled }): [string, WrittenRecord] => [VerifyKey, { n, enabled }]),
      ...ours.tunnels.map((
        { Password, Remark, Status: enabled, Client },
      ): [string, WrittenRecord] => [Password, { n: Number(Remark), enabled, client: Client.VerifyKey }]),
    ]),
  };
}
