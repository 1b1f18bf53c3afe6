import { once } from 'node:events';
import net from 'node:net';
import { z } from 'zod';
import { call, openTunnel, startAgent, startServer, write, type Parameters, type ServerOptions, type ServerProcess } from './processes.ts';
import type { Child } from './child.ts';

/** A server and an agent in processes of their own, a client without limits, and two tunnels to a target that does what visitors say. */
export interface Limited {
  readonly server: ServerProcess;
  readonly agent: Child;
  readonly clientId: number;
  readonly vkey: string;
  readonly ports: readonly [number, number];
  readonly tunnels: readonly [number, number];
  /** Bytes that the target got, by the number that the visitor gave. */
  readonly received: Map<number, number>;
  close(): void;
}

/** Which way bytes go. */
export type Direction = 'down' | 'up' | 'both';

const CHUNK = Buffer.alloc(64 * 1024, 7);
const HEAD_BYTES = 8;

/** Starts what the limits are measured on. Ends with `endChildren`, the target with `close`. @param ofAgent the environment of the agent */
export async function startLimited(options: ServerOptions = {}, ofAgent: ServerOptions['environment'] = {}): Promise<Limited> {
  const received = new Map<number, number>();
  const target = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy()); // cut connections are what is measured
    void serve(socket, received);
  }).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const address = target.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  const server = await startServer(options);
  const vkey = 'the key of the limited';
  const clientId = await write(server, '/client/add/', { vkey, remark: 'limited' });
  const agent = await startAgent(server, vkey, ofAgent);
  const [one, other] = [await openTunnel(server, clientId, `127.0.0.1:${address.port}`), await openTunnel(server, clientId, `127.0.0.1:${address.port}`)];
  return { server, agent, clientId, vkey, ports: [one.port, other.port], tunnels: [one.id, other.id], received, close: () => target.close() };
}

/** Does what the first bytes say: down, up, both, or echo; and the number that its bytes are counted under. */
async function serve(socket: net.Socket, received: Map<number, number>): Promise<void> {
  const [head]: Buffer[] = await once(socket, 'data').catch(() => []); // cut before he said anything
  const [, kind = '', number = ''] = /^(\w)(\d+)/.exec(head?.toString('latin1') ?? '') ?? [];
  if (kind === 'e') {
    socket.write('!');
    socket.pipe(socket);
    return;
  }
  socket.on('data', (chunk: Buffer) => received.set(Number(number), (received.get(Number(number)) ?? 0) + chunk.length));
  // A visitor that disconnected needs no answer.
  socket.once('end', () => socket.destroy());
  if (kind !== 'u') flood(socket);
}

function flood(socket: net.Socket): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(CHUNK));
  };
  socket.on('drain', more);
  more();
}

/** Connects a visitor; it is cut or not, nobody minds. */
export async function visitAs(port: number, kind: 'd' | 'u' | 'b' | 'e', number = 0): Promise<net.Socket> {
  const socket = net.connect({ port, host: '127.0.0.1' });
  socket.on('error', () => socket.destroy()); // callers that wait use 'close'
  await once(socket, 'connect');
  socket.write(`${kind}${number}`.padEnd(HEAD_BYTES));
  return socket;
}

/** Connects a visitor that is answered; undefined = it was turned away. */
export async function greeted(port: number): Promise<net.Socket | undefined> {
  const socket = await visitAs(port, 'e').catch(() => undefined);
  if (!socket) return undefined;
  const answered = await Promise.race([once(socket, 'data').then(() => true, () => false), gone(socket).then(() => false)]);
  return answered ? socket : undefined;
}

/** Whether a visitor is answered now; he goes again. */
export async function isAllowedByPassword(port: number): Promise<boolean> {
  const visitor = await greeted(port);
  if (!visitor) return false;
  visitor.destroy();
  await gone(visitor);
  return true;
}

/** Resolves when the socket is closed, for whatever reason. */
function gone(socket: net.Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    socket.once('close', () => resolve()).once('end', () => socket.destroy()).resume();
  });
}

/** Edits the client by the legacy API. */
export async function edit({ server, clientId }: Limited, parameters: Parameters): Promise<void> {
  await write(server, '/client/edit/', { id: clientId, ...parameters });
}

const record = z.object({ data: z.object({ NowConn: z.number(), IsConnect: z.boolean(), Flow: z.object({ ExportFlow: z.number(), InletFlow: z.number() }) }) });

/** What the legacy API says of the client. Bytes of both directions together. */
export async function clientNow({ server, clientId }: Limited): Promise<{ readonly connections: number; readonly connected: boolean; readonly bytes: number }> {
  const { NowConn, IsConnect, Flow } = record.parse(await call(server, '/client/getclient/', { id: clientId })).data;
  return { connections: NowConn, connected: IsConnect, bytes: Flow.ExportFlow + Flow.InletFlow };
}

/** What was measured of a rate limit. */
export interface RateFigure {
  /** Bytes a second over the rate that was set: 1 = just that. */
  readonly ratio: number;
  /** Of what each stream got, the least and the most over the mean. */
  readonly least: number;
  readonly most: number;
}

/** Runs `streams` connections over both tunnels as fast as they can under a limit of `kilobytes` a second; counts when all of them run. */
export async function measureRate(limited: Limited, { streams, direction, kilobytes, seconds }: {
  readonly streams: number;
  readonly direction: Direction;
  readonly kilobytes: number;
  readonly seconds: number;
}): Promise<RateFigure> {
  const others = (await clientNow(limited)).connections;
  await edit(limited, { rate_limit: kilobytes });
  limited.received.clear();
  const down: number[] = Array.from({ length: streams }, () => 0);
  const sockets = await Promise.all(down.map(async (_, number) => {
    const socket = await visitAs(limited.ports[number % 2 === 0 ? 0 : 1], direction === 'down' ? 'd' : direction === 'up' ? 'u' : 'b', number);
    socket.on('data', (chunk: Buffer) => {
      down[number] = (down[number] ?? 0) + chunk.length;
    });
    if (direction !== 'down') flood(socket);
    return socket;
  }));
  const moved = () => down.map((bytes, number) => bytes + (limited.received.get(number) ?? 0));
  while (moved().some((bytes) => bytes === 0)) await pause(20);
  const [start, before] = [performance.now(), moved()];
  await pause(seconds * 1000);
  const [elapsed, after] = [(performance.now() - start) / 1000, moved()];
  await edit(limited, { rate_limit: 0 });
  await reset(limited, sockets, others);
  const shares = after.map((bytes, number) => bytes - (before[number] ?? 0));
  const total = shares.reduce((sum, share) => sum + share, 0);
  const mean = total / streams;
  return { ratio: total / elapsed / (kilobytes * 1024), least: Math.min(...shares) / mean, most: Math.max(...shares) / mean };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Ends visitors without a trace: what they had sent is not delivered any more. Resolves when only the `others` are left. */
async function reset(limited: Limited, sockets: readonly net.Socket[], others: number): Promise<void> {
  for (const socket of sockets) socket.resetAndDestroy();
  while ((await clientNow(limited)).connections > others) await pause(50);
}

/** Lets `streams` connections run into a flow limit of `megabytes` more. @returns bytes beyond it for each connection, and ms until all were cut */
export async function measureFlow(
  limited: Limited,
  { streams, megabytes }: { readonly streams: number; readonly megabytes: number },
): Promise<{ readonly overshoot: number }> {
  const { bytes } = await clientNow(limited);
  const limit = Math.ceil(bytes / 2 ** 20) + megabytes;
  await edit(limited, { flow_limit: limit });
  const sockets = await Promise.all(
    Array.from({ length: streams }, (_, number) => visitAs(limited.ports[number % 2 === 0 ? 0 : 1], number % 4 < 2 ? 'd' : 'b', number)),
  );
  for (const socket of sockets) flood(socket);
  await Promise.all(sockets.map(gone));
  const after = await clientNow(limited);
  return { overshoot: (after.bytes - limit * 2 ** 20) / streams };
}

/** Connects a burst of visitors over both tunnels. @returns how many were admitted */
export async function measureBurst(
  limited: Limited,
  { visitors, allowed }: { readonly visitors: number; readonly allowed: number },
): Promise<{ readonly admitted: number; readonly counted: number }> {
  await edit(limited, { max_conn: allowed });
  const sockets = await Promise.all(Array.from({ length: visitors }, (_, number) => greeted(limited.ports[number % 2 === 0 ? 0 : 1])));
  const inside = sockets.flatMap((socket) => socket ?? []);
  const { connections } = await clientNow(limited);
  await reset(limited, inside, 0);
  await edit(limited, { max_conn: 0 });
  return { admitted: inside.length, counted: connections };
}

/** Makes a change while a visitor is connected. @returns ms from the call until the visitor was cut */
export async function measureCut(limited: Limited, change: () => Promise<unknown>): Promise<number> {
  const visitor = await greeted(limited.ports[0]);
  if (!visitor) throw new Error('the visitor was turned away before the change');
  const start = performance.now();
  await Promise.all([gone(visitor), change()]);
  return performance.now() - start;
}
