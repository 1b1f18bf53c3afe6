import { afterEach, describe, expect, jest, test } from '@jest/globals';
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
  for (let written = 0; written < 20 && target.write(Buffer.alloc(65_536)); written++);
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
  while (written < 20 && near.write(Buffer.alloc(10_000, 'z'))) written++;
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

/** A socket that is full, or paused, or has bytes that wait, when the test says so. */
class Controlled extends EmptySocket {
  override pending = 0;
  full = false;
  paused = false;
  override write(chunk: Buffer): boolean {
    super.write(chunk);
    return !this.full;
  }
  override pause(): void {
    this.paused = true;
  }
  override resume(): void {
    this.paused = false;
  }
}

describe('by the clock,', () => {
  const pulled = (takeMs?: number) => {
    jest.useFakeTimers();
    const socket = new Controlled();
    return { socket, pulled: new PullSocket(socket, takeMs) };
  };
  afterEach(() => {
    jest.useRealTimers();
  });

  test('a peer that accepts nothing for too long is disconnected, one that accepts something in time is not', async () => {
    const { socket, pulled: reader } = pulled(1000);
    socket.full = true;
    const first = reader.write(text('a'));
    jest.advanceTimersByTime(999);
    socket.sink?.onDrain();
    await first;
    expect([socket.destroyed, jest.getTimerCount()]).toEqual([false, 0]);
    const second = reader.write(text('b'));
    jest.advanceTimersByTime(999);
    expect(socket.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    await expect(second).rejects.toThrow(SocketGoneError);
    expect([socket.destroyed, reader.gone]).toEqual([true, true]);
  });

  test('without a limit a write waits for as long as it takes', () => {
    const { socket, pulled: reader } = pulled();
    socket.full = true;
    void reader.write(text('a'));
    expect(jest.getTimerCount()).toBe(0);
  });

  test('the last deadline counts, and what came too late is discarded; the first failure stays', async () => {
    const { socket, pulled: reader } = pulled();
    const gone: string[] = [];
    reader.onGone = () => gone.push('gone');
    reader.deadline(1000);
    reader.deadline(2000);
    jest.advanceTimersByTime(1999);
    expect(reader.gone).toBe(false);
    jest.advanceTimersByTime(1);
    socket.sink?.onData(text('late'));
    socket.sink?.onClose(new Error('lost'));
    await expect(reader.read()).rejects.toMatchObject({ message: 'nothing came within 2000 ms', timeout: true });
    expect([reader.gone, reader.arrived(), gone]).toEqual([true, undefined, ['gone']]);
  });

  test.each<readonly [string, (reader: PullSocket, socket: Controlled) => void]>([
    ['is taken back', (reader) => reader.deadline(undefined)],
    ['belongs to a socket that was handed over', (reader) => void reader.release()],
    ['belongs to a socket that was closed', (reader) => reader.destroy()],
    ['belongs to a socket that was lost', (_, socket) => socket.sink?.onClose()],
  ])('a deadline that %s leaves no timer', (_, leave) => {
    const { socket, pulled: reader } = pulled();
    reader.deadline(1000);
    leave(reader, socket);
    expect(jest.getTimerCount()).toBe(0);
  });

  test.each([
    ['a second after the last byte was taken, when nothing waits', 0, [], 1000],
    ['when nothing was taken for half a minute', 10, [], 30_000],
    ['later if some bytes were taken', 10, [20_000], 50_000],
    ['a second after all was taken', 10, [5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000], 51_000],
  ])('a socket that is closed is disconnected %s', (_, pending, taken, ms) => {
    const { socket, pulled: reader } = pulled();
    socket.pending = pending;
    reader.closeSoon();
    expect(socket.ended).toBe(true);
    let now = 0;
    for (const after of taken) {
      jest.advanceTimersByTime(after - 1);
      socket.pending--;
      jest.advanceTimersByTime(1);
      now += after;
    }
    jest.advanceTimersByTime(ms - now - 1);
    expect(socket.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect([socket.destroyed, jest.getTimerCount()]).toEqual([true, 0]);
  });
});

test('64 KB wait to be read, those that were given back included, then the socket is paused', () => {
  const socket = new Controlled();
  const pulled = new PullSocket(socket);
  const come = (bytes: number): boolean => {
    socket.sink?.onData(Buffer.alloc(bytes));
    return socket.paused;
  };
  expect([come(60_000), come(5535), come(1)]).toEqual([false, false, true]);
  expect([pulled.arrived()?.length, socket.paused]).toEqual([60_000, false]);
  pulled.unread(Buffer.alloc(60_000));
  expect([come(0), pulled.arrived()?.length, socket.paused]).toEqual([true, 60_000, false]);
});

test('a socket is idle while it is open in both directions and nothing waits; its owner learns once of either end', () => {
  const idle = (happens: (pulled: PullSocket, sink: SocketSink) => void) => {
    const socket = new Controlled();
    const pulled = new PullSocket(socket);
    const seen: string[] = [];
    pulled.onGone = () => seen.push('gone');
    pulled.onEnded = () => seen.push('ended');
    happens(pulled, socket.sink ?? pulled);
    return [pulled.idle, pulled.gone, seen];
  };
  expect(idle(() => undefined)).toEqual([true, false, []]);
  expect(idle((_, sink) => sink.onData(text('a')))).toEqual([false, false, []]);
  expect(idle((_, sink) => sink.onEnd())).toEqual([false, false, ['ended']]);
  expect(idle((_, sink) => sink.onClose())).toEqual([false, true, ['gone']]);
  expect(idle((pulled, sink) => {
    sink.onClose();
    pulled.destroy();
  })).toEqual([false, true, ['gone']]);
  // What its owner does itself is no news.
  for (const close of [(pulled: PullSocket) => pulled.destroy(), (pulled: PullSocket) => pulled.closeSoon(), (pulled: PullSocket) => void pulled.release()]) {
    expect(idle((pulled, sink) => {
      close(pulled);
      sink.onEnd();
      sink.onClose();
    })).toEqual([false, true, []]);
  }
});

test('a socket that is handed over is paused until the next one reads', () => {
  const socket = new Controlled();
  new PullSocket(socket).release();
  expect(socket.paused).toBe(true);
});

test.each([0, 1])('of two spliced sockets, each stops and ends the other (from %i)', (from) => {
  const sockets = [new Controlled(), new Controlled()] as const;
  const [one, other] = from === 0 ? sockets : [sockets[1], sockets[0]];
  splice(...sockets);
  one.sink?.onData(text('a'));
  other.full = true;
  one.sink?.onData(text('b'));
  expect([other.received, one.paused, other.paused]).toEqual(['6162', true, false]);
  other.full = false;
  other.sink?.onDrain();
  expect(one.paused).toBe(false);
  one.sink?.onEnd();
  expect([other.ended, one.ended]).toEqual([true, false]);
  one.sink?.onClose();
  expect(other.destroyed).toBe(false);
});

test.each<readonly [string, (sink: SocketSink) => void]>([
  ['before its end', (sink) => sink.onClose()],
  ['with an error before its end', (sink) => sink.onClose(new Error('lost'))],
  ['with an error after its end', (sink) => {
    sink.onEnd();
    sink.onClose(new Error('lost'));
  }],
])('a spliced socket that is closed %s closes the other one', (_, close) => {
  const [one, other] = [new Controlled(), new Controlled()];
  splice(one, other);
  if (one.sink) close(one.sink);
  expect(other.destroyed).toBe(true);
});
