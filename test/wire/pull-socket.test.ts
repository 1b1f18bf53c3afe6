import { expect, test } from '@jest/globals';
import { PullSocket, SocketGoneError } from '../../src/wire/pull-socket.ts';
import type { ByteSocket, SocketSink } from '../../src/wire/socket.ts';
import { socketPair } from '../../src/wire/socket-pair.ts';
import { splice } from '../../src/wire/splice.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { eventually } from '../support/eventually.ts';

const REMOTE = { remoteAddress: '192.0.2.1', remotePort: 7 };

/** Writes down what happens on a socket. */
class Recorder implements SocketSink {
  readonly seen: string[] = [];

  constructor(socket: ByteSocket) {
    socket.attach(this);
  }

  onData(chunk: Buffer): void {
    this.seen.push(chunk.toString('latin1'));
  }
  onEnd(): void {
    this.seen.push('(end)');
  }
  onDrain(): void {
    this.seen.push('(drain)');
  }
  onClose(error?: Error): void {
    this.seen.push(error ? '(lost)' : '(closed)');
  }
}

const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(() => setImmediate(() => setImmediate(resolve)));
  });
const text = (value: string): Buffer => Buffer.from(value);

test('spliced sockets are one connection: bytes, half close, back-pressure and loss', async () => {
  const [visitor, inner] = socketPair(REMOTE);
  const [outer, target] = socketPair(REMOTE);
  splice(inner, outer);
  const [left, right] = [new Recorder(visitor), new Recorder(target)];
  await settled();
  visitor.write(text('question'));
  visitor.end();
  target.write(text('answer'));
  expect(right.seen).toEqual(['question', '(end)']);
  visitor.pause();
  while (target.write(Buffer.alloc(65_536)));
  expect(target.pending).toBeGreaterThan(0);
  visitor.resume();
  expect(target.pending).toBe(0);
  target.end();
  await settled();
  expect([left.seen.at(-2), left.seen.at(-1), right.seen.at(-1)]).toEqual(['(end)', '(closed)', '(closed)']);
});

test('a spliced connection that is lost on one side is lost on the other', async () => {
  const [visitor, inner] = socketPair(REMOTE);
  const [outer, target] = socketPair(REMOTE);
  splice(inner, outer);
  const right = new Recorder(target);
  await settled();
  visitor.destroy(true);
  expect(await eventually(() => right.seen, (seen) => seen.length > 0)).toEqual(['(lost)']);
});

test('bytes that are asked for come as they came, also those that were given back, until the end', async () => {
  const [near, far] = socketPair(REMOTE);
  const pulled = new PullSocket(far);
  near.write(text('ab'));
  near.write(text('cd'));
  expect(await pulled.parse((bytes) => bytes.length < 3 ? undefined : { length: 3, read: bytes.toString() })).toEqual({ length: 3, read: 'abcd' });
  pulled.unread(text('x'));
  near.end();
  expect((await pulled.read())?.toString()).toBe('x');
  expect((await pulled.read())?.toString()).toBe('d');
  expect(await pulled.read()).toBeUndefined();
  expect(await pulled.parse(() => undefined)).toBeUndefined();
});

test('a socket that nobody reads is paused, and what was not read goes on to the next sink', async () => {
  const [near, far] = socketPair(REMOTE);
  const pulled = new PullSocket(far);
  await settled();
  let written = 0;
  while (near.write(Buffer.alloc(10_000, 'z'))) written++;
  expect(written).toBeLessThan(20);
  await pulled.read();
  const next = new Recorder(pulled.release());
  await settled();
  expect(next.seen.join('')).toBe('z'.repeat(written * 10_000));
  await expect(pulled.read()).rejects.toThrow(SocketGoneError);
});

test('a pending read fails if the connection is lost, the deadline passes, or the socket is closed here', async () => {
  const [near, far] = socketPair(REMOTE);
  const lost = new PullSocket(far);
  const reported: string[] = [];
  lost.onGone = () => reported.push('gone');
  const reading = lost.read();
  near.destroy();
  await expect(reading).rejects.toMatchObject({ name: 'SocketGoneError', timeout: false });
  expect(reported).toEqual(['gone']);
  await expect(lost.write(text('x'))).rejects.toThrow(SocketGoneError);

  const slow = new PullSocket(socketPair(REMOTE)[1]);
  slow.deadline(1);
  await expect(slow.read()).rejects.toMatchObject({ timeout: true });

  const [peer, own] = socketPair(REMOTE);
  const closing = new PullSocket(own);
  const pending = closing.read();
  closing.closeSoon(text('bye'));
  await expect(pending).rejects.toThrow(SocketGoneError);
  const recorder = new Recorder(peer);
  await settled();
  expect(recorder.seen).toEqual(['bye', '(end)']);
  peer.end();
  await settled();
  expect(recorder.seen).toEqual(['bye', '(end)', '(closed)']);
});

test.each([['with its cause', new Error('reset by the peer'), 'the connection was lost: reset by the peer'], [
  'without one',
  undefined,
  'the connection was lost',
]])(
  'a loss is reported %s',
  async (_, cause, message) => {
    const socket = new EmptySocket();
    const reading = new PullSocket(socket).read();
    socket.sink?.onClose(cause);
    await expect(reading).rejects.toMatchObject({ name: 'SocketGoneError', message, cause });
  },
);

test('a socket that was handed over is not written to, ended or reset any more', () => {
  const socket = new EmptySocket();
  const pulled = new PullSocket(socket);
  pulled.release();
  pulled.closeSoon(text('bye'));
  pulled.destroy();
  expect([socket.received, socket.ended, socket.destroyed]).toEqual(['', false, false]);
});
