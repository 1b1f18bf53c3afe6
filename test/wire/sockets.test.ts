import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import process from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { chooseSockets } from '../../src/wire/choose-sockets.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { onreadBackend } from '../../src/wire/onread-socket.ts';
import { capturedBackend } from '../../src/wire/captured-backend.ts';
import type { ByteSocket, SocketSink } from '../../src/wire/socket.ts';
import { eventually } from '../support/eventually.ts';
import { Child, endChildren } from '../support/child.ts';
import { refusedPort, startTarget } from '../support/target.ts';
import { settled } from '../support/settled.ts';
import { deferred, socketPair } from '../support/wire.ts';

afterEach(endChildren);

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

describe.each([netBackend, onreadBackend, await capturedBackend()])('sockets by $name', (backend) => {
  const pair = () => socketPair(false, backend);

  test.each([
    ['nothing was written', 0],
    ['something was written', 1000],
    ['more was written than the kernel takes', 50_000_000],
  ])('a reset right after the end of our direction closes the socket for good when %s', async (_, bytes) => {
    const before = await settled(handles); // what an earlier suite left may still be closing
    const { dialled, accepted } = await pair();
    const closed = [closing(dialled), closing(accepted)];
    if (bytes > 0) dialled.write(Buffer.alloc(bytes));
    dialled.end();
    dialled.destroy(true);
    expect(await closed[0]).toBeUndefined();
    accepted.destroy();
    await closed[1];
    expect(await settled(handles)).toBe(before);
  });

  test.each([
    ['that keep what they get', {}],
    ['that keep nothing', { borrows: true }],
    ['that pause after each chunk', { slow: true }],
    ['that keep nothing and pause after each chunk', { slow: true, borrows: true }],
  ] as const)('both directions arrive whole and end by themselves, many at a time, at readers %s', async (_, reader) => {
    const before = await settled(handles);
    const pairs = await Promise.all(Array.from({ length: 6 }, pair));
    await Promise.all(pairs.map(async ({ dialled, accepted }) => {
      const [up, down] = [randomBytes(1_500_000), randomBytes(700_000)];
      const atServer = reading(accepted, reader);
      dialled.write(up);
      dialled.end();
      const closed = deferred<void>();
      const atClient = reading(dialled, reader);
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
    const { dialled, accepted } = await pair();
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
      dialled.write(sent.subarray(at, at + 10_000));
      await turn();
    }
    dialled.end();
    await done.promise;
    expect(hashOf(Buffer.concat(seen))).toBe(hashOf(sent));
    accepted.destroy();
    dialled.destroy();
  });

  test('what came, ended or was lost before anybody looked is seen by the first who does', async () => {
    const { dialled, accepted } = await pair();
    dialled.write(Buffer.from('early'));
    dialled.end();
    expect((await reading(accepted)).toString()).toBe('early');
    accepted.destroy();
    await closing(dialled);
    const other = await pair();
    other.dialled.destroy(true);
    expect(await closing(other.accepted)).toMatchObject({ code: 'ECONNRESET' });
  });

  test.each([
    ['both directions are open', false],
    ['our direction has ended', true],
  ])('a reset whose last bytes are still unread is no end in good order, when %s', async (_, ended) => {
    const { dialled, accepted } = await pair();
    let seen = 0;
    let saidEnd = false;
    const lost = new Promise<Error | undefined>((resolve) => {
      dialled.attach({ ...IDLE, onData: (chunk) => { seen += chunk.length; }, onEnd: () => { saidEnd = true; }, onClose: resolve });
    });
    if (ended) {
      dialled.end();
      await reading(accepted);
    } else {
      await turn(); // it reads
      await turn();
    }
    // Both arrive before the reader's next turn.
    accepted.write(Buffer.alloc(1000));
    accepted.destroy(true);
    expect(await lost).toMatchObject({ code: 'ECONNRESET' });
    expect({ seen, saidEnd }).toEqual({ seen: 1000, saidEnd: false });
  });

  test('a paused reader stops the writer, every write is taken in the end, and a full socket says when it is empty', async () => {
    const { dialled, accepted } = await pair();
    accepted.attach(IDLE);
    accepted.pause();
    const drained = deferred<void>();
    dialled.attach({ ...IDLE, onDrain: () => drained.resolve() });
    let taken = 0;
    let written = 0;
    while (dialled.write(Buffer.alloc(1_000_000), () => { taken++; }) || written < 20) {
      written++;
      await turn();
    }
    written++;
    const stuck = await settled(() => taken);
    expect(stuck).toBeLessThan(written);
    expect(dialled.pending).toBeGreaterThan(0);
    accepted.resume();
    await drained.promise;
    expect(dialled.pending).toBe(0);
    expect(await settled(() => taken)).toBe(written);
    dialled.destroy();
    accepted.destroy();
  });

  test('a connection that was reset while it waited to be accepted is not told of, the next one is', async () => {
    const before = await settled(handles);
    const accepted: ByteSocket[] = [];
    const server = await backend.listen({ host: '127.0.0.1', port: 0, onSocket: (socket) => accepted.push(socket), onError: (error) => { throw error; } });
    // Nothing is accepted meanwhile.
    execFileSync(process.execPath, ['-e', `require('node:net').connect(${server.port}, '127.0.0.1', function () { this.resetAndDestroy(); })`]);
    const dialled = await backend.connect({ host: '127.0.0.1', port: server.port, timeoutMs: 5000 });
    const [first] = await eventually(() => accepted, ({ length }) => length > 0);
    expect([accepted.length, first?.remotePort]).toEqual([1, dialled.local?.port]);
    dialled.destroy();
    first?.destroy();
    await server.close();
    expect(await settled(handles)).toBe(before);
  });

  test('addresses are those of the peer, without the mapping of IPv4 into IPv6', async () => {
    const { dialled, accepted } = await pair();
    expect(accepted.remoteAddress).toBe('127.0.0.1');
    expect(dialled.remoteAddress).toBe('127.0.0.1');
    expect(accepted.remotePort).not.toBe(dialled.remotePort);
    dialled.destroy();
    accepted.destroy();
  });

  test('a connection that is refused, or whose TLS is never answered, says so', async () => {
    await expect(backend.connect({ host: '127.0.0.1', port: await refusedPort(), timeoutMs: 1000 })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const silent = await startTarget();
    const connecting = backend.connect({ host: '127.0.0.1', port: silent.port, trust: { fingerprint: '' }, timeoutMs: 50 });
    await expect(connecting).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });
});

test('the way to read is the one asked for; left to the program it is the fast one, which passes its self-test on this Node', async () => {
  expect((await chooseSockets('net')).name).toBe('net');
  expect((await chooseSockets('onread')).name).toBe('onread');
  const program = path.resolve(import.meta.dirname, '../../dist/wire/choose-sockets.js');
  const chosen = new Child(process.execPath, ['-e', `import(${JSON.stringify(program)}).then((it) => it.chooseSockets('auto')).then(({ name }) => console.log('chose', name))`]);
  await chosen.says(/^chose onread$/m);
}, 20_000);
