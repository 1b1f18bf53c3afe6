import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DatagramBudget, DatagramSocket, MAX_WAITING } from '../../src/wire/datagram-socket.ts';

/** A socket, what it received and what it handed to its stream. */
function open(budget = new DatagramBudget()) {
  const seen = { datagrams: [] as Buffer[], dropped: 0, sent: [] as Buffer[], ended: 0, closed: 0 };
  const socket = new DatagramSocket({
    remoteAddress: '',
    remotePort: 0,
    budget,
    onDatagram: (bytes) => seen.datagrams.push(bytes),
    onPeerDropped: (count) => {
      seen.dropped += count;
    },
    onClose: () => {
      seen.closed++;
    },
  });
  socket.attach({
    onData: (chunk) => seen.sent.push(chunk),
    onEnd: () => {
      seen.ended++;
    },
    onDrain: () => undefined,
    onClose: () => undefined,
  });
  return { socket, seen };
}

const nextIteration = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

test('datagrams keep their borders, however the stream cuts their bytes', async () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 65_534 })), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 20 }), async (lengths, cuts) => {
      const [from, to] = [open(), open()];
      const datagrams = lengths.map((length, i) => Buffer.alloc(length, i + 1));
      const taken = datagrams.filter((bytes) => from.socket.send(bytes));
      await nextIteration();
      const stream = Buffer.concat(from.seen.sent);
      for (let at = 0, i = 0; at < stream.length; i++) {
        const end = at + (cuts[i % cuts.length] ?? 1);
        to.socket.write(stream.subarray(at, end));
        at = end;
      }
      expect(to.seen.datagrams.map((bytes) => bytes.length)).toEqual(taken.map((bytes) => bytes.length));
      expect(to.seen.datagrams.every((bytes, i) => taken[i]?.equals(bytes))).toBe(true);
      expect(to.seen.dropped).toBe(datagrams.length - taken.length);
    }),
    { numRuns: 200 },
  );
});

test('datagrams sent in one iteration go to the stream at once', async () => {
  const { socket, seen } = open();
  for (let i = 0; i < 100; i++) socket.send(Buffer.from('x'));
  expect(seen.sent).toEqual([]);
  await nextIteration();
  expect(seen.sent.map(({ length }) => length)).toEqual([300]);
});

test('a paused stream has 256 KB waiting at most, all sessions of a budget together; the peer learns what was dropped', async () => {
  const budget = new DatagramBudget();
  const [one, two, peer] = [open(budget), open(budget), open()];
  one.socket.pause();
  two.socket.pause();
  const results = Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? one : two).socket.send(Buffer.alloc(9998)));
  expect(results.filter(Boolean).length).toBe(Math.floor(MAX_WAITING / 10_000));
  two.socket.destroy(); // what it had waiting waits no longer
  expect(one.socket.send(Buffer.alloc(9998))).toBe(true);
  one.socket.resume();
  await nextIteration();
  for (const chunk of one.seen.sent) peer.socket.write(chunk);
  expect(peer.seen.datagrams.length).toBe(14);
  expect(peer.seen.dropped).toBe(2);
});

test('an end on either side closes both cleanly', () => {
  const [near, far] = [open(), open()];
  near.socket.close();
  expect(near.seen).toMatchObject({ ended: 1, closed: 0 });
  far.socket.end();
  expect(far.seen).toMatchObject({ ended: 1, closed: 1 });
  near.socket.end();
  expect(near.seen).toMatchObject({ ended: 1, closed: 1 });
  expect(near.socket.send(Buffer.from('late'))).toBe(false);
});

test('borrowed bytes are copied before they are given back, and what is left of them is kept', () => {
  const { socket, seen } = open();
  const borrowed = Buffer.from('\0\x03one\0\x03tw');
  socket.write(borrowed, () => borrowed.fill(0));
  socket.write(Buffer.from('o'));
  expect(seen.datagrams.map(String)).toEqual(['one', 'two']);
});

test('a budget holds exactly 256 KB', () => {
  const budget = new DatagramBudget();
  expect([budget.take(MAX_WAITING), budget.take(1)]).toEqual([true, false]);
  budget.give(1);
  expect([budget.take(2), budget.take(1), MAX_WAITING]).toEqual([false, true, 256 * 1024]);
});

test('64 KB are sent without waiting for others, what is dropped is reported once, and both before the end', async () => {
  const { socket, seen } = open();
  socket.send(Buffer.alloc(65_532));
  expect(seen.sent).toEqual([]);
  socket.send(Buffer.alloc(0));
  expect(seen.sent.map(({ length }) => length)).toEqual([65_536]);
  await nextIteration();
  socket.drop();
  await nextIteration();
  expect(seen.sent.slice(1)).toEqual([Buffer.from('ffff00000001', 'hex')]);
  socket.drop();
  socket.drop();
  socket.send(Buffer.from('x'));
  socket.close();
  expect([seen.sent.slice(2), seen.ended]).toEqual([[Buffer.from('000178ffff00000002', 'hex')], 1]);
  socket.drop();
  await nextIteration();
  expect([seen.sent.length, seen.ended]).toEqual([3, 1]);
});

test('datagrams that are sent before there is a stream wait for it', async () => {
  const sent: string[] = [];
  const socket = new DatagramSocket({
    remoteAddress: '192.0.2.1',
    remotePort: 7,
    budget: new DatagramBudget(),
    onDatagram: () => undefined,
    onClose: () => undefined,
  });
  expect([socket.remoteAddress, socket.remotePort, socket.send(Buffer.from('early'))]).toEqual(['192.0.2.1', 7, true]);
  socket.attach({ onData: (chunk) => sent.push(chunk.toString('latin1', 2)), onEnd: () => undefined, onDrain: () => undefined, onClose: () => undefined });
  expect(sent).toEqual([]);
  await nextIteration();
  expect(sent).toEqual(['early']);
});

test('a session that was destroyed sends and delivers nothing more, also in the middle of a chunk, and says so once', async () => {
  const { socket, seen } = open();
  socket.send(Buffer.from('never'));
  socket.destroy();
  socket.destroy();
  socket.end();
  expect([socket.send(Buffer.from('x')), socket.write(Buffer.from('000161', 'hex'))]).toEqual([false, true]);
  await nextIteration();
  expect(seen).toEqual({ datagrams: [], dropped: 0, sent: [], ended: 0, closed: 1 });
  const got: string[] = [];
  const closing: DatagramSocket = new DatagramSocket({
    remoteAddress: '',
    remotePort: 0,
    budget: new DatagramBudget(),
    onDatagram: (bytes) => {
      got.push(String(bytes));
      closing.destroy();
    },
    onClose: () => got.push('closed'),
  });
  let closes = 0;
  closing.attach({ onData: () => undefined, onEnd: () => undefined, onDrain: () => undefined, onClose: () => closes++ });
  closing.write(Buffer.from('000161000162', 'hex'));
  expect([got, closes]).toEqual([['a', 'closed'], 1]);
});

test('what waits while the stream is paused is sent when it goes on', async () => {
  const { socket, seen } = open();
  await nextIteration();
  socket.pause();
  socket.send(Buffer.from('x'));
  socket.drop();
  await nextIteration();
  expect(seen.sent).toEqual([]);
  socket.resume();
  await nextIteration();
  expect(seen.sent).toEqual([Buffer.from('000178ffff00000001', 'hex')]);
});
