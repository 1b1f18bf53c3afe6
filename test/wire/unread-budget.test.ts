import { expect, test } from '@jest/globals';
import { Batch } from '../../src/wire/batch.ts';
import { Frame, FrameReader } from '../../src/wire/frames.ts';
import { Mux } from '../../src/wire/mux.ts';
import { START_CREDIT, type Stream } from '../../src/wire/stream.ts';
import { UNREAD, UnreadBudget } from '../../src/wire/unread-budget.ts';
import { EmptySocket } from '../support/empty-socket.ts';

const KB = 1024;
const MB = 1024 * KB;

/** A visitor who takes bytes only when the test says so. */
class SlowSocket extends EmptySocket {
  override pending = 0;
  override readonly remoteAddress: string;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  override write(chunk: Buffer, taken?: () => void): boolean {
    this.pending += chunk.length;
    taken?.();
    return this.pending <= 64 * KB;
  }

  take(bytes: number): void {
    const full = this.pending > 64 * KB;
    this.pending -= bytes;
    if (full && this.pending === 0) this.sink?.onDrain();
  }
}

function framesOf(write: (batch: Batch) => void): Buffer {
  const batch = new Batch();
  write(batch);
  const all: Buffer[] = [];
  batch.drainTo((bytes) => all.push(Buffer.from(bytes)));
  return Buffer.concat(all);
}

const piece = Buffer.alloc(32 * KB);
/** A frame with a whole piece: only the id of its stream, behind the type, changes. */
const frameOfPiece = framesOf((batch) => batch.frame(Frame.DATA, 0, piece));
const nextIteration = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** A server's session whose agent sends what the test says. */
function session() {
  const socket = new EmptySocket();
  const credit = new Map<number, number>();
  const resets: number[] = [];
  const sent = new FrameReader({
    onDataFrame: () => undefined,
    onFrame: (type, id, payload) => {
      if (type === Frame.WINDOW) credit.set(id, (credit.get(id) ?? 0) + payload.readUInt32BE());
      if (type === Frame.RST) resets.push(id);
    },
  });
  socket.write = (chunk: Buffer, taken?: () => void): boolean => {
    sent.push(chunk);
    taken?.();
    return true;
  };
  const ended: string[] = [];
  const mux = new Mux(socket, 'server', { onOpen: (stream) => stream.reset(), onControl: () => undefined, onClose: (reason) => ended.push(reason) }, {
    heartbeatMs: 60_000,
  });
  const visitors: Array<{ readonly stream: Stream; readonly local: SlowSocket }> = [];
  const visit = (remoteAddress = '192.0.2.1', credit?: number): { readonly stream: Stream; readonly local: SlowSocket } => {
    const stream = mux.open(Buffer.from('{}'), false, credit);
    if (!stream) throw new Error('the session takes no more');
    const local = new SlowSocket(remoteAddress);
    stream.join(local);
    const visitor = { stream, local };
    visitors.push(visitor);
    return visitor;
  };
  const send = (stream: Stream, bytes: number): void => {
    frameOfPiece.writeUInt32BE(stream.id, 1);
    let left = bytes;
    for (; left >= piece.length; left -= piece.length) mux.onData(frameOfPiece);
    if (left > 0) mux.onData(framesOf((batch) => batch.frame(Frame.DATA, stream.id, piece.subarray(0, left))));
  };
  const held = (): number => visitors.reduce((sum, { stream, local }) => sum + (stream.over ? 0 : local.pending), 0);
  return { mux, visit, send, held, visitors, credit, resets, ended };
}

test('a session of streams that nobody reads holds no more than its budget: those that hold most are reset, others live on', async () => {
  const { mux, visit, send, held, visitors, resets, ended } = session();
  const small = visit();
  send(small.stream, 100 * KB);
  let most = 0;
  for (let index = 0; index < 200; index++) {
    const { stream } = visit();
    send(stream, MB);
    most = Math.max(most, held());
  }
  await nextIteration();
  expect(most).toBeLessThanOrEqual(UNREAD.most + 4 * MB);
  expect(resets.length).toBeGreaterThan(30);
  expect(visitors.filter(({ stream }) => stream.over).length).toBe(resets.length);
  expect(small.stream.over).toBe(false);
  expect(ended).toEqual([]);
  mux.close('');
});

test('what waits for streams that have no socket yet counts, too', async () => {
  const { mux, send, resets } = session();
  const streams = Array.from({ length: 140 }, () => mux.open(Buffer.from('{}')));
  for (const stream of streams) if (stream) send(stream, MB);
  await nextIteration();
  expect(resets.length).toBeGreaterThan(30);
  expect(streams.filter((stream) => stream?.over).length).toBe(resets.length);
  mux.close('');
});

test('while much waits a stream gets a small window, and every stream whose visitor reads goes on', async () => {
  const { mux, visit, send, credit, resets } = session();
  const reader = visit();
  for (let index = 0; index < 20; index++) send(visit().stream, MB);
  send(reader.stream, MB);
  reader.local.take(MB);
  await nextIteration();
  expect(credit.get(reader.stream.id)).toBe(256 * KB);
  for (let round = 1; round <= 20; round++) {
    send(reader.stream, 256 * KB);
    reader.local.take(256 * KB);
    await nextIteration();
    expect(credit.get(reader.stream.id)).toBe(256 * KB * (round + 1));
  }
  expect(resets).toEqual([]);
  mux.close('');
});

test('a stream alone has the whole window, and gets back all that its visitor took', async () => {
  const { mux, visit, send, credit } = session();
  const { stream, local } = visit();
  send(stream, MB);
  local.take(MB);
  await nextIteration();
  expect(credit.get(stream.id)).toBe(MB);
  mux.close('');
});

test('those of the address that holds most are reset first, also while each of another one holds more', async () => {
  const { mux, visit, send, visitors, resets } = session();
  const other = visit('192.0.2.2');
  send(other.stream, MB);
  for (let index = 0; index < 300; index++) send(visit().stream, 512 * KB);
  await nextIteration();
  expect(resets.length).toBeGreaterThan(40);
  expect(visitors.filter(({ stream }) => stream.over).length).toBe(resets.length);
  expect(other.stream.over).toBe(false);
  mux.close('');
});

test('a stream that begins with less credit gets more as its visitor reads, up to a whole window, and none without that', async () => {
  const { visit, send, credit, ended } = session();
  const { stream, local } = visit('192.0.2.1', START_CREDIT);
  send(stream, START_CREDIT);
  await nextIteration();
  expect(credit.get(stream.id)).toBeUndefined();
  let given = START_CREDIT;
  let sent = START_CREDIT;
  local.take(START_CREDIT);
  for (let round = 0; round < 6; round++) {
    await nextIteration();
    given = START_CREDIT + (credit.get(stream.id) ?? 0);
    send(stream, given - sent);
    local.take(given - sent);
    sent = given;
  }
  await nextIteration();
  expect(START_CREDIT + (credit.get(stream.id) ?? 0) - sent).toBe(MB);
  expect(ended).toEqual([]);
  // One more than it may send ends the session.
  const silent = visit('192.0.2.1', START_CREDIT);
  send(silent.stream, START_CREDIT + 1);
  expect(ended).toEqual([expect.stringContaining('more data')]);
});

test('what was counted too much is looked at again before anything is reset', () => {
  const reset: number[] = [];
  const unread = Array.from({ length: 10 }, () => 1);
  const held = unread.map((_, index) => ({
    peer: '192.0.2.1',
    recount: () => unread[index] ?? 0,
    reset: () => {
      reset.push(index);
      budget.add(-(unread[index] ?? 0));
    },
  }));
  const budget: UnreadBudget = new UnreadBudget(() => held, { tight: 100, most: 200 });
  budget.add(1000);
  expect([budget.tight, reset]).toEqual([false, []]);
  unread.fill(100, 0, 3);
  budget.add(1000);
  expect([budget.tight, reset]).toEqual([true, [0, 1]]);
});

test('streams are reset until exactly three quarters of the limit are held', () => {
  const reset: number[] = [];
  const held = [100, 50, 100].map((unread, index) => ({
    peer: '192.0.2.1',
    recount: () => unread,
    reset: () => {
      reset.push(index);
      budget.add(-unread);
    },
  }));
  const budget: UnreadBudget = new UnreadBudget(() => held, { tight: 100, most: 200 });
  budget.add(1000);
  expect(reset).toEqual([0]);
});

test('a session may hold 128 MB, and its streams get less credit above 16 MB', () => {
  let unread = 0;
  let resets = 0;
  const reset = (): void => {
    resets++;
    budget.add(-unread);
  };
  const budget: UnreadBudget = new UnreadBudget(() => [{ peer: '192.0.2.1', recount: () => unread, reset }]);
  const seen = [16 * MB, 16 * MB + 1, 128 * MB, 128 * MB + 1].map((bytes) => {
    budget.add(bytes - unread);
    unread = bytes;
    budget.count();
    return [budget.tight, resets];
  });
  expect(seen).toEqual([[false, 0], [true, 0], [true, 0], [false, 1]]);
});
