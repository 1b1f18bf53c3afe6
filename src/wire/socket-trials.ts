import { strict as assert } from 'node:assert';
import { createHash, randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import net from 'node:net';
import process from 'node:process';
import { setImmediate as nextIteration } from 'node:timers/promises';
import tls from 'node:tls';
import type { ByteSocket, SocketBackend, SocketServer, SocketSink } from './socket.ts';

/** Tests of each behavior that the byte paths rely on, where a socket backend would break first. */

const HOST = '127.0.0.1';
const TIMEOUT_MS = 5000;
const IDLE: SocketSink = { onData: () => undefined, onEnd: () => undefined, onDrain: () => undefined, onClose: () => undefined };
const MANY = 64;

/** Two ends of one connection. */
interface Pair {
  readonly dialed: ByteSocket;
  readonly accepted: ByteSocket;
}

const listening = (sockets: SocketBackend, onSocket: (socket: ByteSocket) => void): Promise<SocketServer> =>
  sockets.listen({
    host: HOST,
    port: 0,
    onSocket,
    onError: (error) => {
      throw error;
    },
  });

async function pairs(sockets: SocketBackend, count: number): Promise<Pair[]> {
  const accepted: ByteSocket[] = [];
  const server = await listening(sockets, (socket) => accepted.push(socket));
  const all = await Promise.all(Array.from({ length: count }, () => sockets.connect({ host: HOST, port: server.port, timeoutMs: TIMEOUT_MS })));
  while (accepted.length < count) await nextIteration();
  await server.close();
  return all.map((dialed) => {
    const other = accepted.find(({ remoteAddress, remotePort }) => remoteAddress === dialed.local?.address && remotePort === dialed.local.port);
    assert(other, 'an accepted socket has the address of the one that dialed');
    return { dialed, accepted: other };
  });
}

async function pair(sockets: SocketBackend): Promise<Pair> {
  const [only] = await pairs(sockets, 1);
  assert(only);
  return only;
}

/** Everything that a socket received up to its end. */
function whole(socket: ByteSocket, { slow = false, borrows }: { readonly slow?: boolean; readonly borrows?: true } = {}): Promise<string> {
  const hash = createHash('sha256');
  return awaited(
    new Promise((resolve, reject) => {
      socket.attach({
        ...IDLE,
        ...borrows && { borrows },
        onData(chunk) {
          hash.update(chunk);
          if (!slow) return;
          socket.pause();
          setImmediate(() => socket.resume());
        },
        onEnd: () => resolve(hash.digest('hex')),
        onClose: (error) => reject(error ?? new Error('closed before its end')),
      });
    }),
  );
}

/** A promise that is awaited later: another one may fail first. */
function awaited<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** What a connection ended with; undefined = cleanly. */
const lost = (socket: ByteSocket): Promise<Error | undefined> =>
  new Promise((resolve) => socket.attach({ ...IDLE, onEnd: () => resolve(undefined), onClose: resolve }));

const closed = (socket: ByteSocket): Promise<Error | undefined> => new Promise((resolve) => socket.attach({ ...IDLE, onClose: resolve }));

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A connection over TLS, with a key that both ends know instead of a certificate. */
async function securePair(sockets: SocketBackend): Promise<Pair> {
  const options = { ciphers: 'TLS_AES_128_GCM_SHA256', minVersion: 'TLSv1.3' } as const;
  const psk = randomBytes(32);
  const accepting = { ...options, isServer: true, secureContext: tls.createSecureContext(options), pskCallback: () => psk };
  const server = net.createServer({ allowHalfOpen: true }).listen(0, HOST);
  await once(server, 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  const accepted = new Promise<ByteSocket>((resolve, reject) => {
    server.once('connection', (carrier) => {
      const socket = new tls.TLSSocket(carrier, accepting);
      socket.once('error', reject).once('secure', () => resolve(sockets.secured(socket, carrier, Number.POSITIVE_INFINITY)));
    });
  });
  const carrier = net.connect({ host: HOST, port: address.port, allowHalfOpen: true });
  const dialed = new Promise<ByteSocket>((resolve, reject) => {
    const socket = tls.connect({ ...options, socket: carrier, checkServerIdentity: () => undefined, pskCallback: () => ({ psk, identity: 'trial' }) });
    socket.once('error', reject).once('secureConnect', () => resolve(sockets.secured(socket, carrier, Number.POSITIVE_INFINITY)));
  });
  const pair = { dialed: await dialed, accepted: await accepted };
  server.close();
  return pair;
}

async function bothDirections(sockets: SocketBackend): Promise<void> {
  await moveBothWays(await pairs(sockets, 4));
}

async function overTls(sockets: SocketBackend): Promise<void> {
  await moveBothWays(await Promise.all([securePair(sockets), securePair(sockets)]));
}

async function moveBothWays(all: readonly Pair[]): Promise<void> {
  await Promise.all(all.map(async ({ dialed, accepted }, n) => {
    const [up, down] = [randomBytes(200_000), randomBytes(100_000)];
    dialed.write(up);
    dialed.end();
    const answer = whole(dialed, { slow: true, borrows: true });
    assert.equal(await whole(accepted, n % 2 === 0 ? { slow: true, borrows: true } : {}), hashOf(up));
    // One direction has ended, the other one continues.
    for (let at = 0; at < down.length; at += 10_000) accepted.write(down.subarray(at, at + 10_000));
    accepted.end();
    assert.equal(await answer, hashOf(down));
    assert.equal(await closed(accepted), undefined);
  }));
}

async function backPressure(sockets: SocketBackend): Promise<void> {
  const { dialed, accepted } = await pair(sockets);
  const bytes = randomBytes(400_000);
  const hash = createHash('sha256');
  let written = 0;
  let taken = 0;
  const drained = awaited(
    new Promise<void>((resolve, reject) => dialed.attach({ ...IDLE, onDrain: resolve, onClose: (error) => reject(error ?? new Error('closed')) })),
  );
  // Loopback takes some MB.
  while (taken === written || written < 10) {
    hash.update(bytes);
    written++;
    dialed.write(bytes, () => {
      taken++;
    });
    await nextIteration();
  }
  assert(dialed.pending > 0, 'what the kernel does not take is pending');
  const read = whole(accepted, { borrows: true });
  await drained;
  assert.deepEqual({ taken, pending: dialed.pending }, { taken: written, pending: 0 });
  dialed.end();
  assert.equal(await read, hash.digest('hex'));
  accepted.end();
  await closed(dialed);
}

async function handingOver(sockets: SocketBackend): Promise<void> {
  const { dialed, accepted } = await pair(sockets);
  const sent = randomBytes(50_000);
  const seen: Buffer[] = [];
  const done = new Promise<void>((resolve) => {
    const sink = (): SocketSink => ({
      ...IDLE,
      onData(chunk) {
        const most = Math.ceil(chunk.length * 0.7);
        seen.push(Buffer.from(chunk.subarray(0, most)));
        if (most < chunk.length) accepted.unread(Buffer.from(chunk.subarray(most)));
        accepted.attach(sink());
      },
      onEnd: resolve,
    });
    accepted.attach(sink());
  });
  for (let at = 0; at < sent.length; at += 5000) {
    dialed.write(sent.subarray(at, at + 5000));
    await nextIteration();
  }
  dialed.end();
  await done;
  assert.equal(hashOf(Buffer.concat(seen)), hashOf(sent));
  accepted.end();
  await closed(dialed);
}

async function resets(sockets: SocketBackend): Promise<void> {
  const [plain, ended, writing] = await pairs(sockets, 3);
  assert(plain && ended && writing);
  const errors = [lost(plain.accepted), lost(writing.accepted)];
  plain.dialed.destroy(true);
  ended.dialed.end();
  ended.dialed.destroy(true);
  writing.dialed.write(Buffer.alloc(20_000_000));
  writing.dialed.destroy(true);
  for (const error of await Promise.all(errors)) assert.equal(Reflect.get(error ?? {}, 'code'), 'ECONNRESET');
  for (const { dialed } of [plain, ended, writing]) assert.equal(await closed(dialed), undefined);
  ended.accepted.destroy();
}

async function refused(sockets: SocketBackend): Promise<void> {
  const gone = await listening(sockets, () => undefined);
  await gone.close();
  for (const host of [HOST, 'localhost']) {
    // Not every machine can look up that name.
    const code = await lookup(host).then(() => 'ECONNREFUSED', (error: NodeJS.ErrnoException) => error.code);
    await assert.rejects(sockets.connect({ host, port: gone.port, timeoutMs: TIMEOUT_MS }), { code });
  }
}

async function many(sockets: SocketBackend): Promise<void> {
  await Promise.all((await pairs(sockets, MANY)).map(async ({ dialed, accepted }, n) => {
    const word = Buffer.from(`number ${n}`);
    accepted.attach({
      ...IDLE,
      onData: (chunk) => {
        accepted.write(Buffer.from(chunk));
      },
      onEnd: () => accepted.end(),
    });
    const answer = whole(dialed);
    dialed.write(word);
    dialed.end();
    assert.equal(await answer, hashOf(word));
  }));
}

/** After all the others. */
async function nothingLeft(): Promise<void> {
  const until = performance.now() + TIMEOUT_MS;
  while (process.getActiveResourcesInfo().includes('TCPSocketWrap')) {
    assert(performance.now() < until, 'all connections are closed in the end');
    await nextIteration();
  }
}

/** The tests, in this order; each rejects with the problem. */
export const socketTrials: Readonly<Record<string, (sockets: SocketBackend) => Promise<void>>> = {
  'both directions, pauses, half close': bothDirections,
  'back-pressure': backPressure,
  'handing over': handingOver,
  resets: resets,
  'refused connections': refused,
  'many connections': many,
  'over TLS': overTls,
  'nothing is left': nothingLeft,
};
