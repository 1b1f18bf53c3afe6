import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import process from 'node:process';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { BaseSocket } from '../../src/wire/base-socket.ts';
import { BACKEND_NAMES, socketsBy } from '../../src/wire/backends.ts';
import type { ByteSocket, SocketSink } from '../../src/wire/socket.ts';
import { LOOK_MS } from '../../src/wire/socket-watch.ts';
import { isShort, sized } from '../support/endurance.ts';
import { eventually } from '../support/eventually.ts';
import { refusedPort, startTarget } from '../support/target.ts';
import { settled } from '../support/settled.ts';
import { deferred, identity, socketPair } from '../support/wire.ts';

const handles = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const IDLE: SocketSink = { onData: () => undefined, onEnd: () => undefined, onDrain: () => undefined, onClose: () => undefined };

function closing(socket: ByteSocket): Promise<Error | undefined> {
  return new Promise((resolve) => socket.attach({ ...IDLE, onClose: resolve }));
}

/** Everything that a socket reads up to its end; a slow reader pauses after each chunk. */
function reading(socket: ByteSocket, { slow = false, borrows }: { slow?: boolean; borrows?: true } = {}): Promise<Buffer> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    socket.attach({
      ...IDLE,
      ...(borrows ? { borrows } : {}),
      onData(chunk) {
        chunks.push(borrows ? Buffer.from(chunk) : chunk);
        if (!slow) return;
        socket.pause();
        setImmediate(() => socket.resume());
      },
      onEnd: () => resolve(Buffer.concat(chunks)),
      onClose: (error) => reject(error ?? new Error('closed before its end')),
    });
  });
}

/** Whether the kernel's timer of a connection is that of keep-alive. */
function keepsAlive({ local }: ByteSocket): boolean {
  const ours = `0100007F:${(local?.port ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const open = readFileSync('/proc/net/tcp', 'utf8').split('\n').map((line) => line.trim().split(/\s+/)).find((fields) =>
    fields[1] === ours && fields[3] === '01'
  );
  return open?.[5]?.startsWith('02:') ?? false;
}

/** In `npm test`, without the one in between: a buffer of our own that Node reads into. */
const backends = await Promise.all(BACKEND_NAMES.filter((name) => !isShort || name !== 'onread').map(socketsBy));

describe.each(backends.flatMap((backend) => [{ name: backend.name, backend, secure: false }, { name: `${backend.name}, over TLS`, backend, secure: true }]))(
  'connections by $name',
  ({ backend, secure }) => {
    const pair = () => socketPair(secure, backend);

    test('what waits to be sent counts as taken when the socket is destroyed', async () => {
      const { dialed, accepted } = await pair();
      for (const socket of [dialed, accepted]) socket.attach(IDLE);
      accepted.pause();
      let taken = 0;
      for (let written = 0; written < 30; written++) {
        dialed.write(Buffer.alloc(1_000_000), () => void taken++);
        await nextIteration();
      }
      expect(taken).toBeLessThan(30);
      dialed.destroy();
      await eventually(() => taken, (count) => count === 30);
      accepted.destroy();
    });

    test.each(
      [
        ['that keep what they get', {}],
        ['that keep nothing', { borrows: true }],
        ['that pause after each chunk', { slow: true }],
        ['that keep nothing and pause after each chunk', { slow: true, borrows: true }],
      ] as const,
    )('both directions arrive whole and end by themselves, many at a time, at readers %s', async (_, reader) => {
      const before = await settled(handles);
      const pairs = await Promise.all(Array.from({ length: sized(3, 6) }, pair));
      await Promise.all(pairs.map(async ({ dialed, accepted }) => {
        const [up, down] = [randomBytes(sized(500_000, 1_500_000)), randomBytes(sized(300_000, 700_000))];
        const atServer = reading(accepted, reader);
        dialed.write(up);
        dialed.end();
        const closed = deferred<void>();
        const atClient = reading(dialed, reader);
        // Our direction is over, the other one goes on.
        expect(hashOf(await atServer)).toBe(hashOf(up));
        accepted.attach({ ...IDLE, onClose: () => closed.resolve() });
        accepted.write(down);
        accepted.end();
        expect(hashOf(await atClient)).toBe(hashOf(down));
        await closed.promise;
      }));
      expect(await settled(handles)).toBe(before);
    });

    test('a socket that is handed over again and again loses nothing and gives nothing twice', async () => {
      const { dialed, accepted } = await pair();
      const sent = randomBytes(400_000);
      const seen: Buffer[] = [];
      const done = deferred<void>();
      const sink = (): SocketSink => ({
        ...IDLE,
        onData(chunk) {
          const most = 1 + Math.floor(chunk.length * 0.7);
          seen.push(Buffer.from(chunk.subarray(0, most)));
          if (most < chunk.length) accepted.unread(Buffer.from(chunk.subarray(most)));
          accepted.attach(sink());
        },
        onEnd: () => done.resolve(),
      });
      accepted.attach(sink());
      for (let at = 0; at < sent.length; at += 10_000) {
        dialed.write(sent.subarray(at, at + 10_000));
        await nextIteration();
      }
      dialed.end();
      await done.promise;
      expect(hashOf(Buffer.concat(seen))).toBe(hashOf(sent));
      accepted.destroy();
      dialed.destroy();
    });

    test('bytes that come while nobody reads wait', async () => {
      const { dialed, accepted } = await pair();
      const seen: string[] = [];
      let paused = false;
      const ended = deferred<void>();
      accepted.attach({
        ...IDLE,
        onData: (chunk) => {
          seen.push(paused ? 'while nobody reads' : chunk.toString());
          paused = true;
          accepted.pause();
        },
        onEnd: () => ended.resolve(),
      });
      const goOn = (): void => {
        paused = false;
        accepted.resume();
      };
      const sent = ['a'.repeat(40_000), 'b'.repeat(40_000), 'c'];
      for (const text of sent) dialed.write(Buffer.from(text));
      dialed.end();
      const going = setInterval(goOn, 1);
      await ended.promise;
      clearInterval(going);
      expect(hashOf(Buffer.from(seen.join('')))).toBe(hashOf(Buffer.from(sent.join(''))));
      accepted.end();
      await closing(dialed);
    });
  },
);

describe.each(backends)('sockets by $name', (backend) => {
  const pair = () => socketPair(false, backend);

  test.each([
    ['nothing was written', 0],
    ['something was written', 1000],
    ['more was written than the kernel takes', 50_000_000],
  ])('a reset right after the end of our direction closes the socket for good when %s', async (_, bytes) => {
    const before = await settled(handles); // what an earlier suite left may still be closing
    const { dialed, accepted } = await pair();
    const closed = [closing(dialed), closing(accepted)];
    if (bytes > 0) dialed.write(Buffer.alloc(bytes));
    dialed.end();
    dialed.destroy(true);
    expect(await closed[0]).toBeUndefined();
    accepted.destroy();
    await closed[1];
    expect(await settled(handles)).toBe(before);
  });

  test('bytes, an end or a loss before a sink is attached are delivered to the first sink', async () => {
    const { dialed, accepted } = await pair();
    dialed.write(Buffer.from('early'));
    dialed.end();
    expect((await reading(accepted)).toString()).toBe('early');
    accepted.destroy();
    await closing(dialed);
    const other = await pair();
    other.dialed.destroy(true);
    expect(await closing(other.accepted)).toMatchObject({ code: 'ECONNRESET' });
  });

  test.each([
    ['both directions are open', false],
    ['our direction has ended', true],
  ])('a reset whose last bytes are still unread is no end cleanly, when %s', async (_, ended) => {
    const { dialed, accepted } = await pair();
    let seen = 0;
    let saidEnd = false;
    const lost = new Promise<Error | undefined>((resolve) => {
      dialed.attach({
        ...IDLE,
        onData: (chunk) => {
          seen += chunk.length;
        },
        onEnd: () => {
          saidEnd = true;
        },
        onClose: resolve,
      });
    });
    if (ended) {
      dialed.end();
      await reading(accepted);
    } else {
      await nextIteration(); // it reads
      await nextIteration();
    }
    // Both arrive before the reader's next turn.
    accepted.write(Buffer.alloc(1000));
    accepted.destroy(true);
    expect(await lost).toMatchObject({ code: 'ECONNRESET' });
    expect({ seen, saidEnd }).toEqual({ seen: 1000, saidEnd: false });
  });

  test('a socket that a sink has paused is read again by the next sink', async () => {
    const { dialed, accepted } = await pair();
    const first = deferred<Buffer>();
    accepted.attach({
      ...IDLE,
      onData(chunk) {
        accepted.pause();
        first.resolve(Buffer.from(chunk));
      },
    });
    dialed.write(Buffer.from('one'));
    expect((await first.promise).toString()).toBe('one');
    const rest = reading(accepted);
    dialed.write(Buffer.from('two'));
    dialed.end();
    expect((await rest).toString()).toBe('two');
    accepted.end();
    await closing(accepted);
  });

  test('a paused reader stops the writer, every write is taken in the end, and a full socket says when it is empty', async () => {
    const { dialed, accepted } = await pair();
    accepted.attach(IDLE);
    accepted.pause();
    let drained = deferred<void>();
    dialed.attach({ ...IDLE, onDrain: () => drained.resolve() });
    let taken = 0;
    let written = 0;
    while (
      dialed.write(Buffer.alloc(1_000_000), () => {
        taken++;
      }) || written < 20
    ) {
      written++;
      await nextIteration();
    }
    written++;
    const stuck = await settled(() => taken);
    expect(stuck).toBeLessThan(written);
    expect(dialed.pending).toBeGreaterThan(0);
    // The first writes may have left the socket empty, too.
    drained = deferred<void>();
    accepted.resume();
    await drained.promise;
    expect(dialed.pending).toBe(0);
    expect(await settled(() => taken)).toBe(written);
    dialed.destroy();
    accepted.destroy();
  });

  test('a write to a connection that was reset closes the socket, also while nothing is read', async () => {
    const { dialed, accepted } = await pair();
    const closed = closing(dialed);
    dialed.pause();
    accepted.attach(IDLE);
    accepted.destroy(true);
    const writing = setInterval(() => dialed.write(Buffer.from('x')), 5);
    expect(await closed).toMatchObject({ code: expect.stringMatching(/^(?:ECONNRESET|EPIPE)$/) });
    clearInterval(writing);
  });

  test('a connection that was reset before it was accepted is not reported, the next one is', async () => {
    const before = await settled(handles);
    const accepted: ByteSocket[] = [];
    const server = await backend.listen({
      host: '127.0.0.1',
      port: 0,
      onSocket: (socket) => accepted.push(socket),
      onError: (error) => {
        throw error;
      },
    });
    // Nothing is accepted meanwhile.
    execFileSync(process.execPath, ['-e', `require('node:net').connect(${server.port}, '127.0.0.1', function () { this.resetAndDestroy(); })`]);
    const dialed = await backend.connect({ host: '127.0.0.1', port: server.port, timeoutMs: 5000 });
    const [first] = await eventually(() => accepted, ({ length }) => length > 0);
    expect([accepted.length, first?.remotePort]).toEqual([1, dialed.local?.port]);
    dialed.destroy();
    first?.destroy();
    await server.close();
    expect(await settled(handles)).toBe(before);
  });

  test.each([
    ['ends its direction', (peer: net.Socket) => peer.end()],
    ['is gone', (peer: net.Socket) => peer.resetAndDestroy()],
  ])('a peer that %s before its TLS handshake holds nothing here', async (_, leave) => {
    const before = await settled(handles);
    const accepted = deferred<ByteSocket>();
    const server = await backend.listen({ host: '127.0.0.1', port: 0, identity, onSocket: accepted.resolve, onError: accepted.reject });
    const peer = net.connect({ host: '127.0.0.1', port: server.port, allowHalfOpen: true }).on('error', () => undefined);
    const socket = await accepted.promise;
    const over = new Promise<void>((resolve) => socket.attach({ ...IDLE, onEnd: resolve, onClose: () => resolve() }));
    leave(peer);
    await over;
    socket.destroy();
    peer.destroy();
    await server.close();
    expect(await settled(handles)).toBe(before);
  });

  test('addresses are those of the peer, without the mapping of IPv4 into IPv6', async () => {
    const { dialed, accepted } = await pair();
    expect(accepted.remoteAddress).toBe('127.0.0.1');
    expect(dialed.remoteAddress).toBe('127.0.0.1');
    expect(accepted.remotePort).not.toBe(dialed.remotePort);
    dialed.destroy();
    accepted.destroy();
  });

  test.each([70_000, -1, 1.5, Number.NaN])('%p is no port, and connecting to it fails like anything else', async (port) => {
    await expect(backend.connect({ host: '127.0.0.1', port, timeoutMs: 1000 })).rejects.toBeInstanceOf(RangeError);
  });

  (process.platform === 'linux' ? test : test.skip)('both ends ask by keep-alive whether the other one is there', async () => {
    const { dialed, accepted } = await pair();
    for (const socket of [dialed, accepted]) socket.attach(IDLE);
    await eventually(() => [dialed, accepted].map((socket) => keepsAlive(socket)), (both) => both.every(Boolean), 5 * LOOK_MS);
    dialed.destroy();
    accepted.destroy();
  });

  test('a refused connection, and an unanswered TLS handshake, are reported', async () => {
    await expect(backend.connect({ host: '127.0.0.1', port: await refusedPort(), timeoutMs: 1000 })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const silent = await startTarget();
    const connecting = backend.connect({ host: '127.0.0.1', port: silent.port, trust: { fingerprint: '' }, timeoutMs: 50 });
    await expect(connecting).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });
});

test('what comes in pieces while a socket is handed over comes in order, behind what its predecessor gave back', async () => {
  class FedSocket extends BaseSocket {
    readonly remoteAddress = '';
    readonly remotePort = 0;
    readonly local = { address: '', port: 0 };
    readonly pending = 0;
    protected readonly writableEnded = false;
    protected readonly moved = 0;
    write = () => true;
    end = () => undefined;
    destroy = () => undefined;
    protected startReading = () => undefined;
    protected stopReading = () => undefined;
    protected probe = () => undefined;
    over(): void {
      this.receiveEnd();
      this.gone();
    }
  }
  const socket = new FedSocket();
  const got: string[] = [];
  const sink = (name: string) => ({
    onData: (chunk: Buffer) => got.push(`${name} ${String(chunk)}`),
    onEnd: () => got.push(`${name} ended`),
    onDrain: () => undefined,
    onClose: () => got.push(`${name} closed`),
  });
  socket.attach(sink('first'));
  await nextIteration();
  socket.receive(Buffer.from('one'), false);
  socket.attach(sink('second'));
  socket.unread(Buffer.from('ne'));
  for (const piece of ['two', 'three']) socket.receive(Buffer.from(piece), true);
  socket.unread(Buffer.from('o'));
  socket.over();
  expect(got).toEqual(['first one']);
  await nextIteration();
  expect(got).toEqual(['first one', 'second onetwothree', 'second ended', 'second closed']);
});
