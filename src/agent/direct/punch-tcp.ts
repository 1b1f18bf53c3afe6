import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Endpoint, stunMapped, stunRequest } from '../../wire/stun.ts';
import { isUsable, ownCandidates } from './candidates.ts';
import { Probe, PROBE_BYTES, type ProbeKind } from './path-key.ts';
import { NoPathError, type Punched, type PunchOptions } from './punch.ts';

/** Delay between two attempts to connect to a candidate, in ms: both sides have to try at the same time. */
const RETRY_MS = 20;

/**
 * Opens a TCP connection from both sides simultaneously, each from the port whose public address it learned from the server. Used where UDP is blocked.
 * @throws {NoPathError}
 */
export async function punchTcp(options: PunchOptions): Promise<Punched> {
  const { signal, stun, timeoutMs } = options;
  // Not AbortSignal.any with AbortSignal.timeout: Node 20 forgets that timeout when garbage is collected.
  const attempt = new AbortController();
  const timer = setTimeout(() => attempt.abort(), timeoutMs);
  // Without it, the path would be of no use.
  void signal.closed.then(() => attempt.abort());
  const give = attempt.signal;
  const sockets = new Set<net.Socket>();
  let raw: net.Socket | undefined;
  try {
    // Bound to an address, not by the connect: only then can other sockets bind to its port, too.
    const anchor = openSocket(sockets, { host: stun.host, port: stun.ports[0] ?? 0, localAddress: stun.family === 4 ? '0.0.0.0' : '::' });
    const mapped = await within(give, askAddress(anchor));
    const localPort = anchor.localPort ?? 0;
    signal.send({ type: 'candidates', candidates: ownCandidates(mapped, localPort, stun.family) });
    const { candidates } = await within(give, signal.receive('candidates'));
    const usable = candidates.filter((candidate) => isUsable(candidate, stun.family));
    raw = await within(give, Promise.any(usable.map((candidate) => meet(options, sockets, candidate, localPort, give))));
    sockets.delete(raw);
    return { raw, peer: { host: raw.remoteAddress ?? '', port: raw.remotePort ?? 0 } };
  } catch (error) {
    throw new NoPathError(
      give.aborted ? 'no TCP connection of the peer arrives' : error instanceof AggregateError ? 'the peer named no address' : String(error),
      { cause: error },
    );
  } finally {
    clearTimeout(timer);
    attempt.abort();
    for (const socket of sockets) socket.destroy();
  }
}

function openSocket(sockets: Set<net.Socket>, where: net.TcpNetConnectOpts): net.Socket {
  const socket = net.connect({ ...where, allowHalfOpen: true, noDelay: true });
  sockets.add(socket);
  socket.on('error', () => undefined); // reported to the caller by the promise
  socket.once('close', () => sockets.delete(socket));
  return socket;
}

/** The public address of this connection, as the server sees it. */
async function askAddress(socket: net.Socket): Promise<Endpoint> {
  const request = stunRequest();
  await once(socket, 'connect');
  socket.write(request);
  let answer = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      const mapped = stunMapped(answer, request);
      if (mapped) resolve(mapped);
    });
    socket.once('close', () => reject(new Error('the server does not say the public address')));
  });
}

/** Tries one candidate repeatedly until it is chosen. Rejects on the timeout. */
async function meet(options: PunchOptions, sockets: Set<net.Socket>, candidate: Endpoint, localPort: number, give: AbortSignal): Promise<net.Socket> {
  for (;;) {
    give.throwIfAborted();
    const socket = openSocket(sockets, { ...candidate, localPort });
    try {
      await once(socket, 'connect');
      await agree(options, socket);
      return socket;
    } catch {
      // Refused, or another program's connection: try again until the timeout.
      socket.destroy();
    }
    await delay(RETRY_MS, undefined, { signal: give });
  }
}

/** Verifies the peer, and that both sides choose this connection: the visitor decides. */
async function agree({ role, key }: PunchOptions, socket: net.Socket): Promise<void> {
  socket.write(key.probe(Probe.ASK));
  await expectProbe(socket, key, Probe.ASK);
  if (role === 'visitor') socket.write(key.probe(Probe.CHOOSE));
  else await expectProbe(socket, key, Probe.CHOOSE);
}

async function expectProbe(socket: net.Socket, key: PunchOptions['key'], kind: ProbeKind): Promise<void> {
  for (;;) {
    const message: unknown = socket.read(PROBE_BYTES);
    if (Buffer.isBuffer(message)) {
      if (key.read(message) === kind) return;
      throw new Error('not the peer');
    }
    if (socket.readableEnded || socket.destroyed) throw new Error('the connection ended');
    await once(socket, 'readable');
  }
}

function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('stopped'));
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    if (signal.aborted) stop();
  });
}
