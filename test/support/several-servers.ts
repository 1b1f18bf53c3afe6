import { createHash } from 'node:crypto';
import process from 'node:process';
import { z } from 'zod';
import { Child } from './child.ts';
import { eventuallyAsync } from './eventually.ts';
import { authKey, newDataDir, programOf, quickStart, type ServerProcess, signedNow, startServer } from './processes.ts';

/** A server among others, and the address on which its tunnels listen: they share a machine. */
export interface TogetherServer extends ServerProcess {
  readonly name: string;
  readonly tunnelHost: string;
}

/** How many ports tunnels may have. */
const PORTS = 200;

/** The first of the ports of tunnels of the servers on one database: they must be free at all servers, so none is one that the system gives to connections. */
export function firstPortOf(url: string): number {
  const name = createHash('sha256').update(new URL(url).pathname).digest();
  return 10_000 + PORTS * (name.readUInt32BE() % 110);
}

/** The settings of the server with this number, from 1 on. */
export function settingsOf(url: string, number: number): Readonly<Record<string, string>> {
  return {
    ADIT_ALLOW_PORTS: `${firstPortOf(url)}-${firstPortOf(url) + PORTS - 1}`,
    ADIT_DATABASE_URL: url,
    ADIT_NODE: `node${number}`,
    ADIT_NODE_ADDRESS: '127.0.0.1',
    ADIT_TUNNEL_HOST: `127.0.0.${number}`,
    ADIT_LEAVE_SECONDS: '0',
    ADIT_LOG_LEVEL: 'info',
  };
}

/** What `adit nodes` prints when it asks a server, and how it ends. @param words its arguments @param key its `auth_key` @param more further settings */
export async function aditNodes(
  { httpPort }: Pick<ServerProcess, 'httpPort'>,
  words: readonly string[] = [],
  key = authKey,
  more: Readonly<Record<string, string>> = {},
) {
  const child = new Child(process.execPath, [...quickStart, programOf(), 'nodes', ...words], {
    ADIT_DATA_DIR: newDataDir(),
    ADIT_HTTP_PORT: String(httpPort),
    ADIT_AUTH_KEY: key,
    ...more,
  });
  const { code } = await child.exited;
  return { code, output: child.output };
}

/** What `adit nodes invite` prints on a server. */
export async function invitationOf({ dataDir }: Pick<ServerProcess, 'dataDir'>): Promise<string> {
  const child = new Child(process.execPath, [...quickStart, programOf(), 'nodes', 'invite'], { ADIT_DATA_DIR: dataDir });
  await child.exited;
  return child.output.trim();
}

/** Starts servers on one database, and waits until each can reach every other one. @param more further settings */
export async function startServers(url: string, count: number, more: Readonly<Record<string, string>> = {}): Promise<TogetherServer[]> {
  const servers: TogetherServer[] = [];
  for (let number = 1; number <= count; number++) servers.push(await joinServers(url, number, servers[0], more));
  for (const { child, name } of servers) {
    for (const other of servers) if (other.name !== name) await child.says(new RegExp(`connected to another node node=${other.name}\\b`));
  }
  return servers;
}

/** Starts one more server. @param other one that is running; undefined = this is the first @param more further settings */
export async function joinServers(
  url: string,
  number: number,
  other: TogetherServer | undefined,
  more: Readonly<Record<string, string>> = {},
): Promise<TogetherServer> {
  const environment = { ...settingsOf(url, number), ...more, ...other && { ADIT_INVITATION: await invitationOf(other) } };
  return { ...await startServer({ environment }), name: `node${number}`, tunnelHost: `127.0.0.${number}` };
}

const answer = z.object({ data: z.record(z.string(), z.unknown()).nullish(), errors: z.array(z.unknown()).optional() });

/** Runs an operation as an administrator. @throws if it fails */
export async function graphql(
  { httpHost = '127.0.0.1', httpPort }: Pick<ServerProcess, 'httpHost' | 'httpPort'>,
  query: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { auth_key: key, timestamp } = signedNow();
  const headers = { 'content-type': 'application/json', 'x-adit-auth-key': key, 'x-adit-timestamp': String(timestamp), connection: 'close' };
  const response = await fetch(`http://${httpHost}:${httpPort}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  const { data, errors } = answer.parse(await response.json());
  if (!data || errors) throw new Error(JSON.stringify(errors));
  return data;
}

/** Waits until an operation has a result at all servers. */
export async function everywhere(
  servers: ReadonlyArray<Pick<ServerProcess, 'httpHost' | 'httpPort'>>,
  query: string,
  expected: (data: Readonly<Record<string, unknown>>) => boolean,
): Promise<void> {
  await Promise.all(servers.map((server) => eventuallyAsync(() => graphql(server, query), expected)));
}

const traffic = z.object({
  client: z.object({ runtime: z.object({ connected: z.boolean(), inletBytes: z.number(), exportBytes: z.number(), connections: z.number() }) }),
});

/** The state of a client, as a server says it. */
export async function stateOf(server: TogetherServer, clientId: number) {
  return traffic.parse(await graphql(server, `{ client(id: ${clientId}) { runtime { connected inletBytes exportBytes connections } } }`)).client.runtime;
}
