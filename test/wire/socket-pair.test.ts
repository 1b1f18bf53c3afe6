import { expect, test } from '@jest/globals';
import { joinedEnds } from '../../src/wire/joined-ends.ts';
import { socketPair } from '../../src/wire/socket-pair.ts';
import { writeLent } from '../../src/wire/spare-buffers.ts';
import type { ByteSocket, SocketSink } from '../../src/wire/socket.ts';
import { type StreamHooks, StreamResetError } from '../../src/wire/stream.ts';
import { withOrigin } from '../../src/wire/with-origin.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { eventually } from '../support/eventually.ts';

const origin = { remoteAddress: '192.0.2.1', remotePort: 7 };

/** Notes what happens on a socket. */
class Notes implements SocketSink {
  readonly seen: string[] = [];
  onData(chunk: Buffer): void {
    this.seen.push(chunk.toString());
  }
  onEnd(): void {
    this.seen.push('end');
  }
  onDrain(): void {
    this.seen.push('drain');
  }
  onClose(error?: Error): void {
    this.seen.push(error ? `close: ${error.message}` : 'close');
  }
}

function pair(): { one: ByteSocket; other: ByteSocket; ones: Notes; others: Notes } {
  const [one, other] = socketPair(origin);
  const [ones, others] = [new Notes(), new Notes()];
  one.attach(ones);
  other.attach(others);
  return { one, other, ones, others };
}

test('both directions carry bytes and end by themselves; both ends close cleanly', async () => {
  const { one, other, ones, others } = pair();
  expect(one).toMatchObject(origin);
  one.write(Buffer.from('question'));
  one.end();
  await eventually(() => others.seen, (seen) => seen.includes('end'));
  other.write(Buffer.from('answer'));
  other.end();
  await eventually(() => [ones.seen, others.seen], (all) => all.every((seen) => seen.includes('close')));
  expect(ones.seen).toEqual(['answer', 'end', 'close']);
  expect(others.seen).toEqual(['question', 'end', 'close']);
});

test('a paused reader makes the writer wait, and wakes it when everything is taken', async () => {
  const { one, other, ones, others } = pair();
  other.pause();
  expect(one.write(Buffer.alloc(60_000, 'a'))).toBe(true);
  expect(one.write(Buffer.alloc(60_000, 'b'))).toBe(false);
  expect(one.pending).toBe(120_000);
  one.end();
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  expect(others.seen).toEqual([]);
  other.resume();
  expect(others.seen.map((text) => text.slice(0, 3))).toEqual(['aaa', 'bbb', 'end']);
  expect(one.pending).toBe(0);
  expect(ones.seen).toEqual(['drain']);
});

test('a write whose chunk is copied says when the reader falls behind, too, and calls back each time', () => {
  const { one, other } = pair();
  other.pause();
  let taken = 0;
  const write = (): boolean => one.write(Buffer.alloc(60_000), () => taken++);
  expect([write(), write(), taken, one.pending]).toEqual([true, false, 2, 120_000]);
  one.destroy();
});

test('a writer that is woken, fills the pair again and ends: the end comes after all of it, however often the reader waits', async () => {
  const [one, other] = socketPair(origin);
  const seen: string[] = [];
  const more = ['b', 'c', 'd'];
  other.attach({
    onData: (chunk) => {
      seen.push(chunk.toString('latin1', 0, 1));
      if (seen.length > 1) other.pause();
    },
    onEnd: () => seen.push('end'),
    onDrain: () => undefined,
    onClose: () => undefined,
  });
  one.attach({
    onData: () => undefined,
    onEnd: () => undefined,
    onClose: () => undefined,
    onDrain: () => {
      for (const letter of more.splice(0)) one.write(Buffer.alloc(60_000, letter));
      one.end();
    },
  });
  expect(one.write(Buffer.alloc(70_000, 'a'))).toBe(false);
  await eventually(() => seen.length, (count) => count >= 2);
  expect(seen).toEqual(['a', 'b']);
  other.resume();
  expect(seen).toEqual(['a', 'b', 'c']);
  other.resume();
  expect(seen).toEqual(['a', 'b', 'c', 'd']);
  other.resume();
  expect(seen).toEqual(['a', 'b', 'c', 'd', 'end']);
});

test('what is written before a reader is attached waits for it, and what was read too far comes first', async () => {
  const [one, other] = socketPair(origin);
  one.write(Buffer.from('second'));
  other.unread(Buffer.from('first'));
  const notes = new Notes();
  other.attach(notes);
  expect(notes.seen).toEqual([]);
  await eventually(() => notes.seen, (seen) => seen.length === 2);
  expect(notes.seen).toEqual(['first', 'second']);
});

test.each<[true | undefined]>([[true], [undefined]])('lent bytes may change once they are taken, whether the reader borrows (%s) or waits', async (borrows) => {
  const [one, other] = socketPair(origin);
  const seen: Buffer[] = [];
  const text: string[] = [];
  other.attach({
    borrows,
    onData: (chunk) => {
      seen.push(chunk);
      text.push(chunk.toString());
    },
    onEnd: () => undefined,
    onDrain: () => undefined,
    onClose: () => undefined,
  });
  const lend = (word: string): void => {
    const bytes = Buffer.from(word);
    one.write(bytes, () => bytes.fill('x'));
    expect(bytes.toString()).toMatch(/^x+$/);
  };
  lend('early');
  await eventually(() => text, (all) => all.length === 1);
  lend('flowing');
  other.pause();
  lend('waiting');
  other.resume();
  expect(text).toEqual(['early', 'flowing', 'waiting']);
  if (!borrows) expect(seen.map(String)).toEqual(text);
});

test('bytes that a sender only lends, however few, pass through a pair without a copy', async () => {
  const [one, other] = socketPair(origin);
  const seen: Buffer[] = [];
  other.attach({ borrows: true, onData: (chunk) => void seen.push(chunk), onEnd: () => undefined, onDrain: () => undefined, onClose: () => undefined });
  one.write(Buffer.from('early'));
  await eventually(() => seen.length, (count) => count === 1);
  const bytes = Buffer.from('a few bytes');
  writeLent(one, bytes);
  expect(seen[1]).toBe(bytes);
});

test('a lent chunk reaches a reader that borrows without a copy, and one that pauses at it makes the writer wait', async () => {
  const { one, other, ones } = pair();
  const memory: ArrayBufferLike[] = [];
  const seen: string[] = [];
  other.attach({
    borrows: true,
    onData(chunk) {
      memory.push(chunk.buffer);
      seen.push(chunk.toString());
      // Written while a chunk is delivered: it comes after that chunk.
      if (chunk.toString() === 'first') one.write(Buffer.from('second'), () => undefined);
      if (chunk.toString() === 'last') other.pause();
    },
    onEnd: () => seen.push('end'),
    onDrain: () => undefined,
    onClose: () => undefined,
  });
  await new Promise(setImmediate);
  const [first, last] = [Buffer.alloc(5, 'first'), Buffer.alloc(4, 'last')];
  expect(one.write(first, () => undefined)).toBe(true);
  expect(one.write(last, () => undefined)).toBe(false);
  expect(memory[0]).toBe(first.buffer);
  expect(memory.at(-1)).toBe(last.buffer);
  one.end();
  expect(seen).toEqual(['first', 'second', 'last']);
  other.resume();
  expect(ones.seen).toEqual(['drain']);
  expect(seen.at(-1)).toBe('end');
});

test('closing one end closes the other with an error, once, also when nobody listens yet', async () => {
  const { one, ones, others } = pair();
  one.destroy(true);
  one.destroy(true);
  await eventually(() => [ones.seen, others.seen], (all) => all.every((seen) => seen.length > 0));
  expect(ones.seen).toEqual(['close']);
  expect(others.seen).toEqual(['close: the other end was closed']);

  const [near, far] = socketPair(origin);
  near.destroy(true);
  const late = new Notes();
  far.attach(late);
  await eventually(() => late.seen, (seen) => seen.length > 0);
  expect(late.seen).toEqual(['close: the other end was closed']);
  expect(far.write(Buffer.from('lost'))).toBe(true);
});

test('a reader that takes over is also notified of the end', async () => {
  const [one, other] = socketPair(origin);
  const [first, second] = [new Notes(), new Notes()];
  one.end();
  other.attach(first);
  await eventually(() => first.seen, (seen) => seen.includes('end'));
  other.attach(second);
  expect(await eventually(() => second.seen, (seen) => seen.length > 0)).toEqual(['end']);
});

test('a sink that is attached while another one is called begins in a later iteration', async () => {
  const { one, ones } = pair();
  const [later, sender] = socketPair(origin);
  const inner = new Notes();
  const seen = await new Promise<number>((resolve) => {
    const [near, far] = socketPair(origin);
    far.write(Buffer.from('first'));
    near.attach({
      ...silent,
      onData() {
        sender.write(Buffer.from('second'));
        later.attach(inner);
        process.nextTick(() => resolve(inner.seen.length));
      },
    });
  });
  expect(seen).toBe(0);
  await eventually(() => inner.seen, (all) => all.length > 0);
  expect([inner.seen, ones.seen]).toEqual([['second'], []]);
  one.destroy();
});

const silent: SocketSink = { onData: () => {}, onEnd: () => {}, onDrain: () => {}, onClose: () => {} };

test('both ends have the addresses of the origin', () => {
  const full = { ...origin, local: { address: '192.0.2.2', port: 443 } };
  for (const socket of socketPair(full)) expect(socket).toMatchObject(full);
});

test('64 KB may wait for a reader, and none when it is closed', () => {
  const { one, other } = pair();
  other.pause();
  expect([one.write(Buffer.alloc(65_536)), one.pending, one.write(Buffer.alloc(1)), one.pending]).toEqual([true, 65_536, false, 65_537]);
  other.destroy();
  expect(one.pending).toBe(0);
});

test('a reader that takes over reads although the one before had paused, and learns that the pair is closed', async () => {
  const { one, other } = pair();
  await new Promise(setImmediate);
  other.pause();
  one.write(Buffer.from('waits'));
  const second = new Notes();
  other.attach(second);
  await new Promise(setImmediate);
  expect(second.seen).toEqual(['waits']);
  one.destroy();
  await new Promise(setImmediate);
  const third = new Notes();
  other.attach(third);
  await new Promise(setImmediate);
  expect([second.seen.at(-1), third.seen]).toEqual(['close: the other end was closed', ['close: the other end was closed']]);
});

test('a connection that a proxy passes on has the addresses of its origin, and is the same in everything else', () => {
  const calls: unknown[][] = [];
  const inner = new Proxy(new EmptySocket(), {
    get: (target, key): unknown =>
      key === 'pending'
        ? 5
        : key === 'local'
        ? { address: '127.0.0.1', port: 1 }
        : typeof Reflect.get(target, key) === 'function'
        ? (...given: unknown[]) => (calls.push([key, ...given]), key === 'write')
        : undefined,
  });
  const full = { ...origin, local: { address: '192.0.2.2', port: 443 } };
  const socket = withOrigin(inner, full);
  expect(socket).toMatchObject({ ...full, pending: 5 });
  const [bytes, taken, sink] = [Buffer.from('a'), () => undefined, new Notes()];
  expect(socket.write(bytes, taken)).toBe(true);
  socket.attach(sink);
  socket.unread(bytes);
  socket.pause();
  socket.resume();
  socket.end();
  socket.destroy(true);
  socket.destroy();
  expect(calls).toEqual([['write', bytes, taken], ['attach', sink], ['unread', bytes], ['pause'], ['resume'], ['end'], ['destroy', true], [
    'destroy',
    undefined,
  ]]);
});

/** A local socket of a joined end. */
class Local extends EmptySocket {
  full = false;
  paused = false;
  override write(chunk: Buffer, taken?: () => void): boolean {
    super.write(chunk, taken);
    return !this.full;
  }
  override pause(): void {
    this.paused = true;
  }
  override resume(): void {
    this.paused = false;
  }
}

/** Two ends that are joined with their sockets, and what their owners learned. @param from the side that comes first */
function joined(from: number) {
  const ends = joinedEnds();
  const all = ends.map((end) => {
    const seen: unknown[] = [];
    const local = new Local();
    const hooks: StreamHooks = {
      onSent: (bytes) => seen.push(['sent', bytes]),
      onReceived: (bytes) => seen.push(['received', bytes]),
      onClose: (error) => seen.push(error),
    };
    end.join(local, hooks);
    return { end, local, seen };
  });
  const [one, other] = from === 0 ? all : all.toReversed();
  if (!one || !other) throw new Error('there are two');
  return { one, other };
}

test.each([0, 1])('two ends that are joined pass bytes on, wait for each other, and end one after the other (from %i)', (from) => {
  const { one, other } = joined(from);
  one.local.sink?.onData(Buffer.from('a'));
  other.local.full = true;
  one.local.sink?.onData(Buffer.from('bcd'));
  expect([other.local.received, one.local.received, one.local.paused, other.local.paused]).toEqual(['61626364', '', true, false]);
  other.local.sink?.onDrain();
  expect(one.local.paused).toBe(false);
  expect([one.seen, other.seen]).toEqual([[['sent', 1], ['sent', 3]], [['received', 1], ['received', 3]]]);
  for (const { seen } of [one, other]) seen.length = 0;
  one.local.sink?.onEnd();
  expect([one.local.ended, other.local.ended]).toEqual([false, true]);
  other.local.sink?.onEnd();
  one.local.sink?.onClose();
  expect([one.end.over, other.end.over, one.seen]).toEqual([false, false, []]);
  other.local.sink?.onClose();
  expect([one.end.over, other.end.over, one.seen, other.seen]).toEqual([true, true, [undefined], [undefined]]);
  expect([one.local.destroyed, other.local.destroyed]).toEqual([false, false]);
});

test.each<readonly [string, (all: ReturnType<typeof joined>) => void]>([
  ['is reset', ({ one }) => one.end.reset()],
  ['has lost its socket', ({ one }) => one.local.sink?.onClose(new Error('lost'))],
  ['has lost its socket after both ends', ({ one, other }) => {
    for (const { local } of [one, other]) local.sink?.onEnd();
    one.local.sink?.onClose(new Error('lost'));
  }],
  ['whose socket was closed before its own end', ({ one, other }) => {
    other.local.sink?.onEnd();
    one.local.sink?.onClose();
  }],
  ['whose socket was closed before the end of the other one', ({ one }) => {
    one.local.sink?.onEnd();
    one.local.sink?.onClose();
  }],
])('an end that %s resets the other one, and both owners learn it once', (_, end) => {
  for (const from of [0, 1]) {
    const all = joined(from);
    end(all);
    all.other.end.reset();
    for (const { end: each, local, seen } of [all.one, all.other]) {
      expect([each.over, local.destroyed, seen]).toEqual([true, true, [expect.any(StreamResetError)]]);
    }
  }
});

test('a socket for an end that is over is closed, and its owner learns it', () => {
  const [near, far] = joinedEnds();
  near.reset();
  for (const end of [near, far]) {
    const local = new Local();
    const seen: unknown[] = [];
    end.join(local, { onClose: (error) => seen.push(error) });
    expect([local.destroyed, seen]).toEqual([true, [expect.any(StreamResetError)]]);
  }
});
