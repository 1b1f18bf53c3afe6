import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { runProcesses } from '../../src/processes/run-processes.ts';
import { covering } from '../support/certificates.ts';
import { Child, endChildren } from '../support/child.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { freePortRange } from '../support/free-port.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { childrenOf, holdersOf, openFilesOf } from '../support/process-group.ts';
import { call, newDataDir, openTunnel, programOf, quickStart, type ServerProcess, startAgent, startServer, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { aditNodes, everywhere, graphql, settingsOf } from '../support/several-servers.ts';
import { occupyPort, readAll, refusal, startEcho, visit } from '../support/target.ts';
import { startAgent as startOwnAgent } from '../support/tunnel.ts';
import { udpEcho, udpPeer } from '../support/udp.ts';

// Short form: test/processes/port-handles.test.ts

const COUNT = 2;
const OCCUPIED = { status: 0, msg: 'The port cannot be opened because it may has been occupied or is no longer allowed.' };

afterEach(endChildren);
afterAll(removeScratchDirectories);

/** Starts a server of several processes, and waits until each has a session with the other. @param more further settings */
async function startProcesses(url: string, more: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
  const { ADIT_NODE_ADDRESS: _, ...settings } = settingsOf(url, 1);
  const server = await startServer({ environment: { ...settings, ADIT_PROCESSES: String(COUNT), ...more } });
  for (let number = 1; number <= COUNT; number++) await server.child.says(new RegExp(`connected to another node node=node1-${number}\\b`));
  return server;
}

const nodesSchema = z.object({ nodes: z.array(z.object({ name: z.string(), alive: z.boolean(), agents: z.number() })) });

/** The processes, as one of them reports them. */
async function nodesOf(server: ServerProcess) {
  return nodesSchema.parse(await graphql(server, '{ nodes { name alive agents } }')).nodes;
}

/** A client whose agent runs in this process. @returns its id */
async function connectClient(server: ServerProcess, vkey: string): Promise<number> {
  const id = await write(server, '/client/add/', { vkey });
  await startOwnAgent({ bridge: { host: '127.0.0.1', port: server.bridgePort } }, { vkey });
  return id;
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Serves a body, and says what it got. */
async function startOrigin(body: Buffer): Promise<string> {
  const server = http.createServer((_request, response) => response.end(body)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return `127.0.0.1:${address.port}`;
}

async function fetchBody(from: typeof http | typeof https, port: number, host: string): Promise<Buffer> {
  const request = from.request({ host: '127.0.0.1', port, servername: host, rejectUnauthorized: false, agent: false, headers: { host } });
  request.end();
  const [response]: http.IncomingMessage[] = await once(request, 'response');
  if (!response) throw new Error('no response');
  return Buffer.concat(await response.toArray());
}

/** Whether datagrams to a port come back: asks again, since some may be lost while another process takes the port over. */
async function answersUdp(port: number): Promise<void> {
  const peer = await udpPeer();
  await eventuallyAsync(
    async () => {
      peer.send('datagram', port);
      await delay(50);
      return peer.received.length;
    },
    (count) => count > 0,
    30_000,
  );
}

test('the log says how a process ended that could not start', async () => {
  const silent = net.createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  const { ADIT_NODE_ADDRESS: _, ...settings } = settingsOf(`postgresql://x:x@127.0.0.1:${address.port}/x`, 1);
  const child = new Child(process.execPath, [...quickStart, programOf(), 'server'], { ...settings, ADIT_DATA_DIR: newDataDir(), ADIT_PROCESSES: '2' });
  await once(silent, 'connection');
  const [first = 0] = childrenOf(child.pid);
  process.kill(first, 'SIGKILL');
  expect(await child.exited).toEqual({ code: 1, signal: null });
  expect(child.output).toContain('a server process could not start: all of them end process=1 how=SIGKILL\n');
  silent.close();
});

test('several processes need PostgreSQL, and links over TLS', async () => {
  await expect(startServer({ environment: { ADIT_PROCESSES: '2' } })).rejects.toThrow(
    /^.*"code":2.*\nadit: processes: 2 processes need a PostgreSQL database/m,
  );
  const settings = { processes: 2, databaseUrl: 'postgresql://127.0.0.1/adit', nodeLinks: 'plain', linkPort: 0, processHttpPort: '' } as const;
  await expect(runProcesses(settings, new LogRecorder().logger)).rejects.toThrow(/^node_links: .* set node_links to tls, or processes to 1$/);
});

describeWith('initdb', 'several processes of one server', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  });
  afterAll(() => postgresql.stop());

  test('are one: agents are spread over them, and all traffic and calls go through the same ports', async () => {
    const linkPort = await freePortRange(COUNT);
    const server = await startProcesses(await postgresql.createDatabase(), { ADIT_BRIDGE_HOST: '0.0.0.0', ADIT_LINK_PORT: String(linkPort) });
    const { child } = server;
    expect(child.output.match(/is ready/g)).toHaveLength(1 + COUNT);
    const [one, two] = [linkPort, linkPort + 1];
    expect(child.output).toMatch(
      new RegExp(`\\nNode node1-1 is ready: process 1 of 2, .* port ${one}\\nNode node1-2 is ready: process 2 of 2, .* port ${two}\\n`),
    );
    // Only the processes reach each other there.
    for (const port of [one, two]) {
      (await visit(port)).destroy();
      expect(await refusal(port, '127.0.0.2')).toBe('ECONNREFUSED');
    }
    const body = randomBytes(200_000);
    const origin = await startOrigin(body);
    const [echo, datagrams] = [await startEcho(), await udpEcho()];
    // One after another: a process accepts all that wait when it looks.
    const clients: number[] = [];
    for (let number = 0; number < 12; number++) clients.push(await connectClient(server, `key ${number}`));
    // Each call may be answered by another process.
    const tunnels = await Promise.all(clients.map((id) => openTunnel(server, id, echo.address)));
    const udp = await Promise.all(clients.slice(0, 6).map((id) => openTunnel(server, id, datagrams.address, 'udp')));
    const [first = 0, second = 0] = clients;
    const certificate = { cert_file_path: covering.certificate, key_file_path: covering.key };
    await write(server, '/index/addhost/', { client_id: first, host: 'a.example.test', target: origin, scheme: 'all', ...certificate });
    await write(server, '/index/addhost/', { client_id: second, host: 'b.example.test', target: origin, scheme: 'all', ...certificate });
    // Ten times, so that each process has said it with near certainty.
    for (let times = 0; times < 10; times++) {
      await everywhere(
        [server],
        '{ tunnels { rows { runtime { running } } } hosts { rows { runtime { running } } } }',
        (data) => !JSON.stringify(data).includes('false'),
      );
    }
    const agents = await eventuallyAsync(() => nodesOf(server), (nodes) => nodes.reduce((sum, node) => sum + node.agents, 0) === clients.length);
    expect(agents.map(({ name, alive }) => [name, alive])).toEqual([['node1-1', true], ['node1-2', true]]);
    for (const node of agents) expect(node.agents).toBeGreaterThan(0);

    const payload = randomBytes(300_000);
    for (let times = 0; times < 2; times++) {
      await Promise.all(tunnels.map(async ({ port }) => {
        const visitor = await visit(port);
        visitor.end(payload);
        expect(digest(await readAll(visitor))).toBe(digest(payload));
      }));
    }
    for (const { port } of udp) {
      await answersUdp(port);
      expect(holdersOf(server, 'udp', port)).toHaveLength(1);
    }
    for (let times = 0; times < 4; times++) {
      for (const host of ['a.example.test', 'b.example.test']) {
        expect(digest(await fetchBody(http, server.hostsPort, host))).toBe(digest(body));
        expect(digest(await fetchBody(https, server.secureHostsPort, host))).toBe(digest(body));
      }
    }
    expect((await aditNodes(server)).output).toMatch(/node1-1 [^]*node1-2 /);

    const pids = childrenOf(child.pid);
    expect(pids).toHaveLength(COUNT);
    child.kill('SIGHUP');
    await child.says(/(the certificates are reloaded[^]*){2}/);
    child.kill('SIGTERM');
    expect(await child.exited).toEqual({ code: 0, signal: null });
    expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    for (const port of [server.httpPort, server.bridgePort, server.tlsPort, server.hostsPort, server.secureHostsPort, tunnels[0]?.port ?? 0]) {
      expect(await refusal(port)).toBe('ECONNREFUSED');
    }
  });

  test('go on when one is killed under traffic, or frozen, and it is started again', async () => {
    const server = await startProcesses(await postgresql.createDatabase(), { ADIT_SOCKETS: 'onread' });
    const { child } = server;
    const echo = await startEcho();
    const clientId = await write(server, '/client/add/', { vkey: 'the key of the agent' });
    const agent = await startAgent(server, 'the key of the agent', { ADIT_LOG_LEVEL: 'debug' });
    const tunnel = await openTunnel(server, clientId, echo.address);
    const udp = await openTunnel(server, clientId, (await udpEcho()).address, 'udp');
    await agent.says(/agent: session in reserve with \S+\n/);
    const homeOf = async () => (await nodesOf(server)).find(({ agents }) => agents === 1)?.name;
    const home = await eventuallyAsync(homeOf, (name) => name !== undefined) ?? '';
    const pidOf = async (name: string): Promise<number> => {
      const [, port] = await child.says(new RegExp(`Node ${name} is ready: .* on port (\\d+)\\n(?![^]*Node ${name} is ready)`));
      return holdersOf(server, 'tcp', Number(port))[0] ?? 0;
    };

    const stopped = new AbortController();
    let served = 0;
    const failures: string[] = [];
    /** Visitors who come one after another. */
    const visitors = (async () => {
      while (!stopped.signal.aborted) {
        await served1(tunnel.port).then(() => served++, (error: unknown) => failures.push(String(error)));
        await delay(10);
      }
    })();
    await eventually(() => served, (count) => count > 20);
    const said = child.output.length;
    process.kill(await pidOf(home), 'SIGKILL');
    await child.says(new RegExp(`a server process has ended: it is started again process=${home.slice(-1)} how=SIGKILL`), said);
    const before = served;
    await eventually(() => served, (count) => count > before + 20);
    await answersUdp(udp.port);
    await child.says(new RegExp(`Node ${home} is ready`), said);
    await child.says(new RegExp(`connected to another node node=${home}`), said);
    await answersUdp(udp.port);
    expect(holdersOf(server, 'udp', udp.port)).toHaveLength(1);
    // At most the one that was connected through the process when it died.
    expect(failures.slice(1)).toEqual([]);

    const frozen = await eventuallyAsync(homeOf, (name) => name !== undefined && name !== home) ?? '';
    // With the process that was started again.
    await agent.says(/agent: connected to[^]*agent: connected to[^]*agent: session in reserve with \S+\n(?![^]*agent: session in reserve with \S+ ended)/);
    const pid = await pidOf(frozen);
    process.kill(pid, 'SIGSTOP');
    const [atFreeze, lost] = [served, failures.length];
    await eventually(() => served, (count) => count > atFreeze + 20, 30_000);
    process.kill(pid, 'SIGCONT');
    await agent.says(/it did not answer within 500 ms/);
    // Those that the frozen process had accepted.
    expect(failures.length - lost).toBeLessThanOrEqual(3);
    stopped.abort();
    await visitors;
    child.kill('SIGTERM');
    expect((await child.exited).code).toBe(0);
  });

  test('give a port to one tunnel, and refuse one that another program has', async () => {
    const server = await startProcesses(await postgresql.createDatabase(), { ADIT_SOCKETS: 'net', ADIT_NODE_ADDRESS: '127.0.0.1' });
    const clientId = await write(server, '/client/add/', { vkey: 'the key of the agent' });
    const free = await openTunnel(server, clientId, '127.0.0.1:9');
    const port = free.port;
    await write(server, '/index/del/', { id: free.id });
    const add = (type: string) => call(server, '/index/add/', { client_id: clientId, type, port, target: '127.0.0.1:9' });
    for (const type of ['tcp', 'udp']) {
      for (let times = 0; times < 5; times++) {
        const answers = await Promise.all(Array.from({ length: 4 }, () => add(type)));
        const made = answers.flatMap((answer) => z.object({ status: z.literal(1), id: z.number() }).safeParse(answer).data ?? []);
        expect(made).toHaveLength(1);
        expect(answers.filter((answer) => JSON.stringify(answer) === JSON.stringify(OCCUPIED))).toHaveLength(3);
        await write(server, '/index/del/', { id: made[0]?.id ?? 0 });
      }
    }
    const other = await occupyPort('127.0.0.1', port);
    const files = () => [server.child.pid, ...childrenOf(server.child.pid)].map((pid) => openFilesOf(pid));
    for (let times = 0; times < 10; times++) expect(await add('tcp')).toEqual(OCCUPIED);
    const before = files();
    for (let times = 0; times < 40; times++) expect(await add('tcp')).toEqual(OCCUPIED);
    // Nothing stays open: not one for each attempt.
    await eventually(files, (after) => after.every((count, index) => count < (before[index] ?? 0) + 10));
    await other.release();
    await write(server, '/index/add/', { client_id: clientId, type: 'tcp', port, target: '127.0.0.1:9' });
    // The server's own ports are not to be had, although the processes share them.
    for (const own of [server.httpPort, server.bridgePort, server.hostsPort]) {
      expect(await call(server, '/index/add/', { client_id: clientId, type: 'tcp', port: own, server_ip: '127.0.0.1', target: '127.0.0.1:9' })).toMatchObject({
        status: 0,
      });
    }
    server.child.kill('SIGTERM');
    expect((await server.child.exited).code).toBe(0);
  });

  test('end with the one that has started them, and it ends with the first that cannot start', async () => {
    const url = await postgresql.createDatabase();
    const server = await startProcesses(url);
    const pids = childrenOf(server.child.pid);
    server.child.kill('SIGKILL');
    await eventually(() => pids.filter((pid) => existsSync(`/proc/${pid}`)), (left) => left.length === 0);
    const { port } = await occupyPort('127.0.0.1');
    const { ADIT_NODE_ADDRESS: _, ...settings } = settingsOf(url, 1);
    const again = startServer({ dataDir: server.dataDir, environment: { ...settings, ADIT_PROCESSES: '2', ADIT_HTTP_PORT: String(port) } });
    await expect(again).rejects.toThrow(
      new RegExp(`"code":1[^]*adit: can't listen on 127\\.0\\.0\\.1:${port} \\(--http-host, --http-port\\): port ${port} is occupied`),
    );
  });
});

/** One visitor's exchange. */
async function served1(port: number): Promise<void> {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.setTimeout(3000, () => socket.destroy(new Error('no answer within 3 s'))).end('psst');
  if (String(await readAll(socket)) !== 'psst') throw new Error('the connection ended early');
}
