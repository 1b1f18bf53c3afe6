import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { z } from 'zod';
import { Child, endChildren } from './child.ts';
import { call, programOf, type ServerProcess, signedNow, startServer, write } from './processes.ts';
import { removeScratchDirectories, scratchDirectory } from './scratch.ts';

/** For the files of agents. */
export const directory = scratchDirectory();
/** Where agents say how they are. */
export const runtime = path.join(directory, 'run');
let current: ServerProcess | undefined;
let clients = 0;
const agents = new Set<Child>();

/** A server for all tests of the suite that calls this; the agents end with their test. */
export function serveConfigured(): void {
  beforeAll(async () => {
    current = await startServer();
  });
  afterEach(async () => {
    await Promise.all(Array.from(agents, (agent) => agent.end()));
    agents.clear();
  });
  afterAll(async () => {
    await endChildren();
    removeScratchDirectories();
  });
}

/** The server. */
export function server(): ServerProcess {
  if (current === undefined) throw new Error('the server is not started');
  return current;
}

/** Starts the server again, after it has ended. */
export async function startAgain(): Promise<void> {
  current = await startServer({ dataDir: server().dataDir });
}

/** The program as an agent; nothing is waited for. */
export function adit(...args: string[]): Child {
  const child = new Child(process.execPath, [programOf(), 'agent', ...args], { ADIT_SOCKETS: 'captured', ADIT_RUNTIME_DIR: runtime });
  agents.add(child);
  return child;
}

/** A client that may bring a file along, and the file. */
export async function client(parameters: Record<string, string | number> = {}) {
  const vkey = `the key of client ${++clients}`;
  const id = await write(server(), '/client/add/', { vkey, config_conn_allow: 1, ...parameters });
  const file = path.join(directory, `agent-${clients}.toml`);
  const save = (entries: string, bridgePort = server().bridgePort): void => {
    // As editors do it.
    writeFileSync(`${file}.new`, `server = "127.0.0.1:${bridgePort}"\nvkey = "${vkey}"\n${entries}`);
    renameSync(`${file}.new`, file);
  };
  return { id, vkey, file, save };
}

const listed = z.object({
  total: z.number(),
  rows: z.array(
    z.object({
      Id: z.number(),
      Mode: z.string().default(''),
      Host: z.string().default(''),
      Port: z.number().default(0),
      NoStore: z.boolean(),
      Remark: z.string(),
      RunStatus: z.boolean().default(true),
    }),
  ),
});

/** The tunnels of a client. */
export async function tunnels(clientId: number) {
  return listed.parse(await call(server(), '/index/gettunnel/', { client_id: clientId, limit: 100 })).rows;
}

/** The hosts of a client. */
export async function hosts(clientId: number) {
  return listed.parse(await call(server(), '/index/hostlist/', { client_id: clientId, limit: 100 })).rows;
}

/** The response to an operation of an administrator. */
export async function graphql(query: string): Promise<unknown> {
  const { auth_key, timestamp } = signedNow();
  const response = await fetch(`http://127.0.0.1:${server().httpPort}/graphql?auth_key=${auth_key}&timestamp=${timestamp}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return response.json();
}

/** One answer over a connection that speaks HTTP. */
export async function httpText(options: http.RequestOptions): Promise<string> {
  const request = http.request({ host: '127.0.0.1', agent: false, ...options });
  const answered = once(request, 'response');
  request.end();
  const [response] = await answered as [http.IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  return text;
}

/** A web server that says who it is. */
export async function startWeb(name: string): Promise<string> {
  const web = http.createServer((_, response) => response.end(name)).listen(0, '127.0.0.1').unref();
  await once(web, 'listening');
  const address = web.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return `127.0.0.1:${address.port}`;
}
