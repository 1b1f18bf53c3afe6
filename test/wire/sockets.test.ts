import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import dns from 'node:dns/promises';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import process from 'node:process';
import { setImmediate as nextIteration } from 'node:timers/promises';
import tls from 'node:tls';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { BaseSocket } from '../../src/wire/base-socket.ts';
import { BACKEND_NAMES, socketsBy } from '../../src/wire/backends.ts';
import { type Handle, isHandle } from '../../src/wire/captured-handle.ts';
import { captureParts } from '../../src/wire/captured-parts.ts';
import { failureOf } from '../../src/wire/failure-behind-end.ts';
import { byteSocket, netBackend } from '../../src/wire/net-socket.ts';
import type { ByteSocket, ListenOptions, SocketSink } from '../../src/wire/socket.ts';
import { LOOK_MS, NOT_WATCHED, socketWatch } from '../../src/wire/socket-watch.ts';
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

/** In how many seconds the kernel asks by keep-alive for the other end of a connection; undefined = it does not. */
function keepAliveIn({ local }: ByteSocket): number | undefined {
  const ours = `0100007F:${(local?.port ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const open = readFileSync('/proc/net/tcp', 'utf8').split('\n').map((line) => line.trim().split(/\s+/)).find((fields) =>
    fields[1] === ours && fields[3] === '01'
  );
  const [timer, hundredths = ''] = open?.[5]?.split(':') ?? [];
  return timer === '02' ? Number.parseInt(hundredths, 16) / 100 : undefined;
}

/** In `npm test`, without the one in between: a buffer of our own that Node reads into. */
const backends = await Promise.all(BACKEND_NAMES.filter((name) => !isShort || name !== 'onread').map(socketsBy));

describe.each(backends.flatMap((backend) => [{ name: backend.name, backend, secure: false }, { name: `${backend.name}, over TLS`, backend, secure: true }]))(
  'connections by $name',
  ({ backend, secure }) => {
    const pair = () => socketPair(secure, backend);

    /** The same, of a listener that resets sockets after a second of which one direction is over. */
    async function halfClosing() {
      const listen = (options: ListenOptions) => backend.listen({ ...options, halfClosedMs: 1000 });
      const { dialed, accepted } = await socketPair(secure, { ...backend, listen });
      if (!(dialed instanceof BaseSocket) || !(accepted instanceof BaseSocket)) throw new Error('every socket is one');
      return { dialed, accepted };
    }

    test('an accepted socket of which one direction is over is reset when nothing has moved in the other for a while; what it still sends moves', async () => {
      const { dialed, accepted } = await halfClosing();
      expect([dialed, accepted].map(({ halfClosedMs }) => halfClosedMs)).toEqual([Number.POSITIVE_INFINITY, 1000]);
      const ended = deferred<void>();
      const closed = new Promise<Error | undefined>((resolve) => accepted.attach({ ...IDLE, onEnd: () => ended.resolve(), onClose: resolve }));
      let read = 0;
      dialed.attach({
        ...IDLE,
        onData: (chunk) => {
          read += chunk.length;
        },
      });
      // It is looked at from now on.
      dialed.end();
      expect(dialed.watchPlace).not.toBe(NOT_WATCHED);
      dialed.pause();
      await ended.promise;
      // The test alone looks at it.
      socketWatch.delete(accepted);
      accepted.write(Buffer.alloc(20_000_000));
      await settled(() => accepted.pending);
      expect([accepted.look(0), accepted.look(999)]).toEqual([true, true]);
      dialed.resume();
      await eventually(() => read, (bytes) => bytes === 20_000_000);
      await eventually(() => accepted.pending, (bytes) => bytes === 0);
      expect([accepted.look(1000), accepted.look(1999)]).toEqual([true, true]);
      expect(accepted.look(2000)).toBe(false);
      expect((await closed)?.message).toBe('one direction was over, and nothing moved in the other');
      dialed.destroy();
    });

    if (secure) {
      test('a paused socket asks below TLS, with an empty write, whether its peer is there', async () => {
        const { dialed, accepted } = await pair();
        for (const socket of [dialed, accepted]) {
          socket.attach(IDLE);
          socket.pause();
          const writes = jest.spyOn(net.Socket.prototype, 'write');
          expect(socket instanceof BaseSocket && socket.look(0)).toBe(true);
          const sizes = writes.mock.calls.map(([bytes]) => bytes.length);
          writes.mockRestore();
          expect(sizes).toEqual([0]);
        }
        dialed.destroy();
        accepted.destroy();
      });
    }

    test('a write after our end closes the socket with an error', async () => {
      const { dialed, accepted } = await pair();
      accepted.attach(IDLE);
      const closed = closing(dialed);
      let taken = 0;
      const write = () => dialed.write(Buffer.from('too late'), () => void taken++);
      dialed.end();
      write();
      expect((await closed)?.message).toBe('write after end');
      write();
      // What was lent to the socket can be used again.
      await eventually(() => taken, (count) => count === 2);
      accepted.destroy();
    });

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

  test('a write is refused when 64 KB wait', async () => {
    const { dialed, accepted } = await pair();
    for (const socket of [dialed, accepted]) socket.attach(IDLE);
    accepted.pause();
    const seen: Array<readonly [number, boolean]> = [];
    while (dialed.pending < 100_000) {
      const more = dialed.write(Buffer.alloc(16_000));
      if (dialed.pending > 0) seen.push([dialed.pending, more]);
    }
    expect(seen.length).toBeGreaterThan(4);
    expect(seen.filter(([pending, more]) => more !== pending < 64 * 1024)).toEqual([]);
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

  test('a connection that the system does not accept is reported, and the next one is accepted', async () => {
    const created = jest.spyOn(net, 'createServer');
    const [failed, accepted] = [deferred<Error>(), deferred<ByteSocket>()];
    const server = await backend.listen({ host: '127.0.0.1', port: 0, onSocket: accepted.resolve, onError: failed.resolve });
    const handle: unknown = Reflect.get(created.mock.results[0]?.value ?? {}, '_handle');
    created.mockRestore();
    if (typeof handle !== 'object' || handle === null) throw new Error('a listening server has a handle');
    const onConnection: unknown = Reflect.get(handle, 'onconnection');
    if (typeof onConnection !== 'function') throw new Error('a listening handle says what it accepted');
    Reflect.apply(onConnection, handle, [-os.constants.errno.EMFILE]);
    expect(await failed.promise).toMatchObject({ code: 'EMFILE', syscall: 'accept' });
    const dialed = await backend.connect({ host: '127.0.0.1', port: server.port, timeoutMs: 5000 });
    for (const socket of [dialed, await accepted.promise]) socket.destroy();
    await server.close();
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

  // Only Linux shows the timers of a connection (/proc/net/tcp).
  (process.platform === 'linux' ? test : test.skip)('both ends ask by keep-alive whether the other one is there, every 15 seconds', async () => {
    const { dialed, accepted } = await pair();
    for (const socket of [dialed, accepted]) socket.attach(IDLE);
    const seconds = () => [dialed, accepted].map((socket) => keepAliveIn(socket) ?? Number.POSITIVE_INFINITY);
    await eventually(seconds, (both) => both.every((left) => left <= 15), 5 * LOOK_MS);
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

test('what lacks anything that sockets use of a handle is none', () => {
  const methods = 'useUserBuffer readStart readStop writeBuffer writev shutdown connect connect6 close reset setNoDelay setKeepAlive getpeername getsockname';
  const whole: Record<string, unknown> = { bytesRead: 0, bytesWritten: 0, ...Object.fromEntries(methods.split(' ').map((name) => [name, () => 0])) };
  expect(isHandle(whole)).toBe(true);
  expect(Object.keys(whole).filter((name) => isHandle({ ...whole, [name]: undefined }))).toEqual([]);
});

test('why a connection ended, by its descriptor', () => {
  expect(failureOf(-1)).toBeUndefined();
  const [empty, full] = [openSync('/dev/null', 'r'), openSync(import.meta.filename, 'r')];
  expect([failureOf(empty), failureOf(full)?.message]).toEqual([undefined, 'more came after the end']);
  for (const descriptor of [empty, full]) closeSync(descriptor);
  expect(failureOf(full)).toMatchObject({ code: 'EBADF' });
});

test('sockets that another part of the program made are half-closed for as long as it says', () => {
  const secured = netBackend.secured(new tls.TLSSocket(new net.Socket()), new net.Socket(), 2000);
  const made = [byteSocket(new net.Socket()), byteSocket(new net.Socket(), undefined, 1000), secured];
  expect(made).toMatchObject([{ halfClosedMs: Number.POSITIVE_INFINITY }, { halfClosedMs: 1000 }, { halfClosedMs: 2000 }]);
  for (const socket of made) socket.destroy();
});

test('many connections may wait to be accepted; only a listener with TLS has a certificate that can be renewed', async () => {
  const listens = jest.spyOn(net.Server.prototype, 'listen');
  const listener = await netBackend.listen({ host: '127.0.0.1', port: 0, onSocket: () => undefined, onError: () => undefined });
  expect(listens).toHaveBeenCalledWith(expect.objectContaining({ backlog: 4096 }));
  listens.mockRestore();
  expect(() => listener.renew(identity)).toThrow('has no certificate');
  await listener.close();
});

/** What the handles of all captured sockets have. */
const allHandles: Handle = (await captureParts()).Tcp.prototype;
const captured = await socketsBy('captured');

describe('with the clock of the test,', () => {
  const spies: Array<{ mockRestore(): void }> = [];
  afterEach(() => {
    jest.useRealTimers();
    for (const spy of spies.splice(0)) spy.mockRestore();
    syncBuiltinESMExports();
  });

  const UNREACHABLE = -os.constants.errno.EHOSTUNREACH;

  /** Connections get this status at once; 0 = no answer. @returns the addresses that are tried, in order */
  function connecting(statusOf: (address: string) => number): string[] {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const tried: string[] = [];
    for (const name of ['connect', 'connect6'] as const) {
      spies.push(
        jest.spyOn(allHandles, name).mockImplementation((_, address) => {
          tried.push(address);
          return statusOf(address);
        }),
      );
    }
    return tried;
  }

  /** What a name leads to; undefined = nobody ever says. */
  function names(addresses: readonly string[] | undefined): void {
    const found = addresses?.map((address) => ({ address, family: net.isIP(address) }));
    const lookup = jest.spyOn(dns, 'lookup') as unknown as jest.SpiedFunction<() => Promise<unknown>>;
    spies.push(lookup.mockImplementation(() => found ? Promise.resolve(found) : new Promise(() => undefined)));
    syncBuiltinESMExports();
  }

  const failure = (host: string, timeoutMs = 1000) => captured.connect({ host, port: 7, timeoutMs }).catch((error: unknown) => error);

  test.each([
    [['192.0.2.1', '192.0.2.2', '2001:db8::1'], ['192.0.2.1', '2001:db8::1', '192.0.2.2']],
    [['2001:db8::1', '2001:db8::2', '192.0.2.1', '192.0.2.2'], ['2001:db8::1', '192.0.2.1', '2001:db8::2', '192.0.2.2']],
  ])('the addresses of a name (%p) are tried one after the other, and the error of the first one counts', async (addresses, order) => {
    const tried = connecting((address) => address === addresses[0] ? -os.constants.errno.ECONNREFUSED : UNREACHABLE);
    names(addresses);
    expect(await failure('a.example')).toMatchObject({ name: 'AggregateError', code: 'ECONNREFUSED', errors: { length: addresses.length } });
    expect(tried).toEqual(order);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('the error of a single address is that of the system', async () => {
    connecting(() => UNREACHABLE);
    names(['192.0.2.1']);
    expect(await failure('a.example')).toMatchObject({ code: 'EHOSTUNREACH', syscall: 'connect', message: 'connect EHOSTUNREACH 192.0.2.1:7' });
  });

  test('an address that does not answer is given up for the next one after a quarter of a second, the last one when the time is over', async () => {
    const tried = connecting(() => 0);
    names(['192.0.2.1', '192.0.2.2']);
    const failed = failure('a.example');
    let over = false;
    void failed.then(() => {
      over = true;
    });
    await jest.advanceTimersByTimeAsync(net.getDefaultAutoSelectFamilyAttemptTimeout() - 1);
    expect(tried.length).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(tried.length).toBe(2);
    await jest.advanceTimersByTimeAsync(1000 - net.getDefaultAutoSelectFamilyAttemptTimeout() - 1);
    expect(over).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(await failed).toMatchObject({ code: 'ETIMEDOUT' });
    expect(jest.getTimerCount()).toBe(0);
  });

  test('a name that nobody looks up in time, and an address that does not answer in time, are timeouts', async () => {
    connecting(() => 0);
    names(undefined);
    spies.push(jest.spyOn(net, 'connect').mockImplementation(() => new net.Socket()));
    const all = [['a.example', failure('a.example')], ['192.0.2.1', failure('192.0.2.1')], [
      '192.0.2.1',
      netBackend.connect({ host: '192.0.2.1', port: 7, timeoutMs: 1000 }).catch((error: unknown) => error),
    ]] as const;
    let over = 0;
    for (const [, failed] of all) void failed.then(() => over++);
    await jest.advanceTimersByTimeAsync(999);
    expect(over).toBe(0);
    await jest.advanceTimersByTimeAsync(1);
    for (const [host, failed] of all) expect(await failed).toMatchObject({ code: 'ETIMEDOUT', message: `no connection to ${host}:7 within 1000 ms` });
    expect(jest.getTimerCount()).toBe(0);
  });

  test.each(backends)('a connection that is made leaves no timer ($name)', async (backend) => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const { dialed, accepted } = await socketPair(false, backend);
    dialed.destroy();
    accepted.destroy();
    // The sockets are watched no more.
    jest.advanceTimersByTime(LOOK_MS / 5);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('what a socket that was accepted writes is not to wait for others: on Linux it has that from its listener', async () => {
    const set = jest.spyOn(allHandles, 'setNoDelay');
    spies.push(set);
    const server = await captured.listen({ host: '127.0.0.1', port: 0, onSocket: () => undefined, onError: () => undefined });
    expect(set.mock.calls).toEqual(process.platform === 'linux' ? [[true]] : []);
    await server.close();
  });

  test('the first write of up to 512 bytes of a dialed socket needs no option; the next one, or a longer one, is not to wait for others', async () => {
    const set = jest.spyOn(allHandles, 'setNoDelay');
    spies.push(set);
    const counts: number[][] = [];
    for (const sizes of [[512, 1, 1], [513, 1]]) {
      const { dialed, accepted } = await socketPair(false, captured);
      set.mockClear();
      counts.push(sizes.map((bytes) => {
        dialed.write(Buffer.alloc(bytes));
        return set.mock.calls.length;
      }));
      dialed.destroy();
      accepted.destroy();
    }
    expect(counts).toEqual([[0, 1, 1], [1, 1]]);
  });
});
