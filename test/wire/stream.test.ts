import { expect, jest, test } from '@jest/globals';
import { Frame, FrameReader, type FrameType } from '../../src/wire/frames.ts';
import { Mux, type MuxOptions } from '../../src/wire/mux.ts';
import { type StreamHooks, StreamResetError } from '../../src/wire/stream.ts';
import { EmptySocket } from '../support/empty-socket.ts';

const EMPTY = Buffer.alloc(0);
const KB = 1024;
const MB = 1024 * KB;

const frame = (type: number, payload: number[] = []): Buffer => Buffer.from([type, 0, 0, 0, 1, 0, 0, 0, payload.length, ...payload]);
const u32 = (value: number): number[] => [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff];

/** A socket that is full when the test says so. */
class Local extends EmptySocket {
  override pending = 0;
  paused = false;
  full = false;
  override write(chunk: Buffer, taken?: () => void): boolean {
    super.write(chunk, taken);
    if (this.full) this.pending += chunk.length;
    return !this.full;
  }
  override pause(): void {
    this.paused = true;
  }
  override resume(): void {
    this.paused = false;
  }
  /** It takes what waits, and more. */
  drain(): void {
    this.full = false;
    this.pending = 0;
    this.sink?.onDrain();
  }
}

/** Bytes arrive, and their buffer is used again. */
function lend({ sink }: EmptySocket, text: string): void {
  const bytes = Buffer.from(text);
  sink?.onData(bytes);
  bytes.fill('-');
}

/** A server's session with one stream. */
function session(options?: MuxOptions) {
  const [socket, local] = [new EmptySocket(), new Local()];
  const ended: string[] = [];
  const mux = new Mux(socket, 'server', { onOpen: () => undefined, onControl: () => undefined, onClose: (reason) => ended.push(reason) }, {
    heartbeatMs: 3_600_000,
    ...options,
  });
  const stream = mux.open(EMPTY);
  if (!stream) throw new Error('the session takes no more');
  /** What was sent since the last call: types, and payloads in Latin-1. */
  const sent = (): string[] => {
    mux.onDrain();
    const seen: string[] = [];
    const names = Object.fromEntries(Object.entries(Frame).map(([name, type]) => [type, name]));
    const note = (type: FrameType, payload: Buffer): void => void seen.push(`${names[type]} ${payload.toString('latin1')}`.trimEnd());
    new FrameReader({ onDataFrame: (_, payload) => note(Frame.DATA, payload), onFrame: (type, _, payload) => note(type, payload) })
      .push(Buffer.from(socket.received, 'hex'));
    socket.received = '';
    return seen;
  };
  sent();
  return { mux, socket, stream, local, ended, sent };
}

/** A server's stream whose other direction has moved to a data connection, on which a byte came. */
function moved(hooks?: StreamHooks) {
  const all = { ...session(), data: new Local() };
  all.stream.join(all.local, hooks);
  all.mux.addDataConnection(all.data, 2);
  all.mux.onData(frame(Frame.MOVE, u32(2)));
  lend(all.data, 'x');
  return all;
}

/** A stream that has carried so much that its direction moved to a data connection of the server. */
function promoted(hooks?: StreamHooks) {
  const all = { ...session(), data: new Local() };
  all.stream.join(all.local, hooks);
  all.mux.addDataConnection(all.data, 1);
  all.local.sink?.onData(Buffer.alloc(512 * KB));
  lend(all.local, 'moved');
  return all;
}

test('what came before its socket was there, the end included, comes in its order', () => {
  const { mux, stream, local } = session();
  mux.onData(frame(Frame.DATA, [1, 2]));
  mux.onData(frame(Frame.FIN));
  const ends: string[] = [];
  jest.spyOn(local, 'end').mockImplementation(() => void ends.push(local.received));
  stream.join(local);
  expect(ends).toEqual(['0102']);
  mux.onClose();
});

test('the end of a data connection alone is no end: that of a killed agent ends too', () => {
  const { mux, local, data } = moved();
  data.sink?.onEnd();
  expect(local).toMatchObject({ received: '78', ended: false, destroyed: false });
  mux.onClose();
  expect(local).toMatchObject({ ended: false, destroyed: true });
});

test.each([[['fin', 'raw']], [['raw', 'fin']]])('a direction that moved ends when its end was said on both (%s)', (order) => {
  const { mux, local, data } = moved();
  for (const end of order) {
    expect(local.ended).toBe(false);
    if (end === 'fin') mux.onData(frame(Frame.FIN));
    else data.sink?.onEnd();
  }
  expect(local).toMatchObject({ ended: true, destroyed: false });
  mux.onClose();
});

test('what comes between the end on the mux and that of the data connection is delivered', () => {
  const { mux, local, data } = moved();
  mux.onData(frame(Frame.FIN));
  lend(data, 'y');
  data.sink?.onEnd();
  expect(local).toMatchObject({ received: '7879', ended: true });
  mux.onClose();
});

test('an idle data connection that the peer ends is closed, one with bytes of a direction whose MOVE is on its way is not', () => {
  const { mux } = session();
  const [idle, early] = [new EmptySocket(), new EmptySocket()];
  mux.addDataConnection(idle, 2);
  mux.addDataConnection(early, 4);
  lend(early, 'x');
  for (const { sink } of [idle, early]) sink?.onEnd();
  expect([idle.destroyed, early.destroyed, early.ended]).toEqual([true, false, false]);
  mux.onClose();
});

test('what comes before a stream has its socket waits for it, and counts then', () => {
  const { mux, stream, local } = session();
  for (const bytes of [frame(Frame.DATA, [1, 2]), frame(Frame.DATA, [3]), frame(Frame.FIN)]) {
    mux.onData(bytes);
    bytes.fill(0);
  }
  const received: number[] = [];
  stream.join(local, { onReceived: (bytes) => received.push(bytes) });
  expect([local.received, local.ended, received]).toEqual(['010203', true, [2, 1]]);
  mux.onClose();
});

test('the same on a data connection, which is not read meanwhile', () => {
  const { mux, stream, local } = session();
  const data = new Local();
  mux.addDataConnection(data, 2);
  // Before it is said whose bytes these are.
  lend(data, 'a');
  expect(data.paused).toBe(true);
  mux.onData(frame(Frame.MOVE, u32(2)));
  expect(data.paused).toBe(false);
  lend(data, 'b');
  expect(data.paused).toBe(true);
  const received: number[] = [];
  stream.join(local, { onReceived: (bytes) => received.push(bytes) });
  expect([local.received, data.paused, received]).toEqual(['6162', false, [1, 1]]);
  lend(data, 'cde');
  expect([local.received, received]).toEqual(['6162636465', [1, 1, 3]]);
  mux.onClose();
});

test.each([true, false])('a data connection that ended before it was said whose bytes it has ends their direction (closed: %s)', (closed) => {
  const { mux, stream, local } = session();
  const data = new Local();
  stream.join(local);
  mux.addDataConnection(data, 2);
  lend(data, 'a');
  data.sink?.onEnd();
  if (closed) data.sink?.onClose();
  mux.onData(frame(Frame.MOVE, u32(2)));
  mux.onData(frame(Frame.FIN));
  expect(local).toMatchObject({ received: '61', ended: true, destroyed: false });
  // Nobody uses the other direction.
  expect(data.ended).toBe(true);
  if (!closed) data.sink?.onClose();
  // Its number is free again.
  const again = new Local();
  mux.addDataConnection(again, 2);
  expect(again.destroyed).toBe(false);
  mux.onClose();
});

test('a socket that takes no more stops its data connection until it does, and what waits for it counts', () => {
  const held: number[] = [];
  const unread = { tight: false, open: () => undefined, add: (bytes: number) => held.push(bytes), close: () => undefined };
  const { mux, local, data } = moved({ unread });
  local.full = true;
  lend(data, 'y');
  expect([data.paused, held]).toEqual([true, [1]]);
  local.drain();
  expect([data.paused, held]).toEqual([false, [1, -1]]);
  mux.onClose();
});

test('a data connection that takes no more stops its stream until it does; the end follows on both', () => {
  const sizes: number[] = [];
  const { mux, local, data, sent } = promoted({ onSent: (bytes) => sizes.push(bytes) });
  expect(sent().slice(8)).toEqual(['MOVE \0\0\0\u0001']);
  expect([data.received, local.paused]).toEqual([Buffer.from('moved').toString('hex'), false]);
  data.full = true;
  lend(local, 'more');
  expect(local.paused).toBe(true);
  data.drain();
  expect([local.paused, sizes]).toEqual([false, [512 * KB, 5, 4]]);
  local.sink?.onEnd();
  expect([sent(), data.ended]).toEqual([['FIN'], true]);
  // The peer has moved nothing: its direction of the connection is over, too.
  mux.onData(frame(Frame.FIN));
  local.sink?.onClose();
  expect([mux.streamCount, sent()]).toEqual([0, []]);
  mux.onClose();
});

test.each([[undefined, false], [new Error('lost'), true]])(
  'a direction that has ended on its data connection is complete, unless the connection is lost then (%p)',
  (error, over) => {
    const [ours, theirs] = [promoted(), moved()];
    ours.local.sink?.onEnd();
    theirs.data.sink?.onEnd();
    for (const { data } of [ours, theirs]) data.sink?.onClose(error);
    expect([ours.stream.over, theirs.stream.over]).toEqual([over, over]);
    for (const { mux } of [ours, theirs]) mux.onClose();
  },
);

test('what waits for credit is not overtaken on a data connection', () => {
  const { mux, stream, local, sent } = session();
  const data = new Local();
  stream.join(local, { credit: 512 * KB });
  mux.addDataConnection(data, 1);
  local.sink?.onData(Buffer.alloc(512 * KB + 1));
  lend(local, 'behind it');
  expect([sent().length, data.received]).toEqual([8, '']);
  mux.onData(frame(Frame.WINDOW, u32(KB)));
  lend(local, 'last');
  expect(sent()).toEqual(['DATA \0behind it', 'MOVE \0\0\0\u0001']);
  expect(data.received).toBe(Buffer.from('last').toString('hex'));
  mux.onClose();
});

test('both directions of a stream move to one connection, and another stream gets none of it', () => {
  const { mux, stream, local, sent } = session();
  const [theirs, ours] = [new Local(), new Local()];
  stream.join(local);
  mux.addDataConnection(ours, 1);
  mux.addDataConnection(theirs, 2);
  mux.onData(frame(Frame.MOVE, u32(2)));
  for (let pieces = 0; pieces < 65; pieces++) local.sink?.onData(Buffer.alloc(8 * KB));
  expect(sent().at(-1)).toBe('MOVE \0\0\0\u0002');
  const other = new Local();
  mux.open(EMPTY)?.join(other);
  for (let pieces = 0; pieces < 65; pieces++) other.sink?.onData(Buffer.alloc(8 * KB));
  expect([theirs.received.length, ours.received.length]).toEqual([2 * 8 * KB, 2 * 8 * KB]);
  // The end of the peer's direction is not that of ours.
  theirs.sink?.onEnd();
  expect(theirs.ended).toBe(false);
  local.sink?.onEnd();
  expect(theirs.ended).toBe(true);
  mux.onClose();
});

test('a stream whose direction cannot move yet tries again when it has carried as much once more; smaller pieces do not count', () => {
  const { mux, stream, local } = session();
  let tries = 0;
  const moveOut = mux.moveOut.bind(mux);
  mux.moveOut = (...given) => {
    tries++;
    return moveOut(...given);
  };
  stream.join(local);
  const carry = (pieces: number, bytes: number): number => {
    for (; pieces > 0; pieces--) {
      local.sink?.onData(Buffer.alloc(bytes));
      mux.onData(frame(Frame.WINDOW, u32(bytes)));
    }
    return tries;
  };
  expect([carry(200, 8 * KB - 1), carry(64, 8 * KB), carry(1, 1), carry(63, 8 * KB), carry(1, 8 * KB), carry(1, 1)]).toEqual([0, 0, 1, 1, 1, 2]);
  stream.mayMove = false;
  expect(carry(200, 8 * KB)).toBe(2);
  mux.onClose();
});

test('streams of a session that several clients share stay on it unless one may leave it', () => {
  const { mux, stream, local, sent } = session({ ofSeveralClients: { most: 8, ofOwner: 4 } });
  const data = new Local();
  stream.join(local);
  mux.addDataConnection(data, 1);
  local.sink?.onData(Buffer.alloc(512 * KB));
  lend(local, 'x');
  expect([data.received, sent().length]).toEqual(['', 9]);
  stream.mayMove = true;
  lend(local, 'x');
  expect([data.received, sent()]).toEqual(['78', ['MOVE \0\0\0\u0001']]);
  mux.onClose();
});

test.each<readonly [string, (all: ReturnType<typeof promoted> & { readonly theirs: Local }) => void]>([
  ['reset here', ({ stream }) => stream.reset()],
  ['reset by the peer', ({ mux }) => mux.onData(frame(Frame.RST))],
  ['whose socket is lost', ({ local }) => local.sink?.onClose(new Error('lost'))],
  ['whose socket was closed', ({ local }) => local.sink?.onClose()],
  ['whose socket was closed after its end', ({ local }) => {
    local.sink?.onEnd();
    local.sink?.onClose();
  }],
  ['that has lost the connection of our direction', ({ data }) => data.sink?.onClose(new Error('lost'))],
  ['whose connection of our direction was closed', ({ data }) => data.sink?.onClose()],
  ['that has lost the connection of the other direction', ({ theirs }) => theirs.sink?.onClose(new Error('lost'))],
  ['whose connection of the other direction was closed', ({ theirs }) => theirs.sink?.onClose()],
  ['whose session is over', ({ mux }) => mux.onClose()],
])('a stream %s is over, once, and with it its socket and the connections of both directions', (_, end) => {
  const seen: unknown[] = [];
  const all = { ...promoted({ onClose: (error) => seen.push(error) }), theirs: new Local() };
  all.mux.addDataConnection(all.theirs, 2);
  all.mux.onData(frame(Frame.MOVE, u32(2)));
  end(all);
  expect(seen).toEqual([expect.any(Error)]);
  all.sent();
  all.stream.reset();
  expect([seen.length, all.sent()]).toEqual([1, []]);
  expect([all.stream.over, all.mux.streamCount]).toEqual([true, 0]);
  expect([all.theirs.destroyed, all.data.destroyed]).toEqual([true, true]);
  all.mux.onClose();
});

test('a stream sends no more than its credit; the rest, and then its end, follow when it gets more', () => {
  const { mux, stream, local, ended, sent } = session();
  const closed: unknown[] = [];
  stream.join(local, { credit: 3, onClose: (error) => closed.push(error) });
  lend(local, 'abcdef');
  expect([sent(), local.paused]).toEqual([['DATA abc'], true]);
  lend(local, 'g');
  local.sink?.onEnd();
  mux.onData(frame(Frame.FIN));
  // Both directions have ended, so its socket closes.
  local.sink?.onClose();
  mux.onData(frame(Frame.WINDOW, u32(2)));
  expect([sent(), stream.over]).toEqual([['DATA de'], false]);
  mux.onData(frame(Frame.WINDOW, u32(2)));
  expect([sent(), stream.over, closed, ended]).toEqual([['DATA fg', 'FIN'], true, [undefined], []]);
  mux.onClose();
});

test('an end is sent once, also when credit comes after it', () => {
  const { mux, stream, local, sent } = session();
  stream.join(local);
  lend(local, 'a');
  local.sink?.onEnd();
  expect(sent()).toEqual(['DATA a', 'FIN']);
  mux.onData(frame(Frame.WINDOW, u32(1)));
  expect([sent(), stream.over]).toEqual([[], false]);
  mux.onClose();
});

test('with new credit its socket is read again; more than a whole window ends the session', () => {
  const { mux, stream, local, ended, sent } = session();
  stream.join(local, { credit: 1 });
  lend(local, 'a');
  expect([sent(), local.paused]).toEqual([['DATA a'], true]);
  mux.onData(frame(Frame.WINDOW, u32(MB)));
  expect([local.paused, ended]).toEqual([false, []]);
  mux.onData(frame(Frame.WINDOW, u32(1)));
  expect(ended).toEqual([expect.stringContaining('more credit on stream 1')]);
});

test('the bytes that wait for its socket are reported to a further budget, and none when it is over', () => {
  const { mux, stream, local } = session();
  const seen: unknown[] = [];
  local.full = true;
  stream.join(local, {
    unread: { tight: false, open: (holder) => seen.push(holder === stream), add: (bytes) => seen.push(bytes), close: (holder) => seen.push(holder) },
  });
  mux.onData(frame(Frame.DATA, [1, 2, 3]));
  local.drain();
  local.full = true;
  mux.onData(frame(Frame.DATA, [1]));
  stream.reset();
  expect(seen).toEqual([true, 3, -3, 1, -1, stream]);
  mux.onClose();
});

test.each([[false, MB], [true, 256 * KB]])('a further budget that is tight (%s) leaves a stream a window of %i bytes', (tight, window) => {
  const { mux, stream, local, sent } = session();
  stream.join(local, { unread: { tight, open: () => undefined, add: () => undefined, close: () => undefined } });
  for (let pieces = 0; pieces < 16; pieces++) mux.onDataFrame(1, Buffer.alloc(64 * KB));
  const granted = sent().reduce((sum, one) => sum + Buffer.from(one.slice('WINDOW '.length), 'latin1').readUInt32BE(), 0);
  expect(granted).toBe(window);
  mux.onClose();
});

test('a socket for a stream that is over is reset, and its owner learns it', () => {
  const { mux, stream, local } = session();
  mux.onData(frame(Frame.RST));
  const seen: unknown[] = [];
  stream.join(local, { onClose: (error) => seen.push(error) });
  expect([local.destroyed, seen]).toEqual([true, [expect.any(StreamResetError)]]);
  mux.onClose();
});

test.each([['its end', Frame.FIN], ['its move', Frame.MOVE]] as const)('a direction that moves after %s breaks the protocol', (_, type) => {
  const { mux, stream, local, ended } = session();
  stream.join(local);
  mux.addDataConnection(new Local(), 2);
  mux.addDataConnection(new Local(), 4);
  mux.onData(frame(type, type === Frame.MOVE ? u32(4) : []));
  mux.onData(frame(Frame.MOVE, u32(2)));
  expect(ended).toEqual(['protocol error: stream 1 moved after its end']);
});
