import { brotliCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { Batch } from '../../src/wire/batch.ts';
import { ControlQueue } from '../../src/wire/control-queue.ts';
import { Frame, FrameReader, ProtocolError, type FrameType } from '../../src/wire/frames.ts';
import { Mux, type MuxHandlers, type MuxOptions, type Side } from '../../src/wire/mux.ts';
import { decodeOpen, encodeOpen, type OpenRequest } from '../../src/wire/open.ts';
import type { ByteSocket } from '../../src/wire/socket.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { deferred, socketPair } from '../support/wire.ts';

const sockets: ByteSocket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** A server's mux and the naked socket of a peer that says what the test wants. */
async function muxAndPeer(heartbeatMs?: number): Promise<{ mux: Mux; peer: ByteSocket; ended: Promise<string> }> {
  const { dialed, accepted } = await socketPair();
  const ended = deferred<string>();
  const mux = new Mux(accepted, 'server', { onOpen: () => {}, onControl: () => {}, onClose: ended.resolve }, { heartbeatMs });
  sockets.push(dialed, accepted);
  return { mux, peer: dialed, ended: ended.promise };
}

function frame(type: number, stream: number, payload: Buffer, length = payload.length): Buffer {
  const head = Buffer.alloc(9);
  head[0] = type;
  head.writeUInt32BE(stream, 1);
  head.writeUInt32BE(length, 5);
  return Buffer.concat([head, payload]);
}

const EMPTY = Buffer.alloc(0);
const u32 = (value: number): Buffer => {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value);
  return out;
};

test('frames come out as they went in, wherever the byte stream is cut', () => {
  const anyFrame = fc.oneof(
    fc.record({ type: fc.constant(Frame.DATA), stream: fc.integer({ min: 1, max: 0xffff_ffff }), payload: fc.uint8Array({ minLength: 1, maxLength: 300 }) }),
    fc.record({ type: fc.constant(Frame.OPEN), stream: fc.integer({ min: 1, max: 0xffff_ffff }), payload: fc.uint8Array({ maxLength: 300 }) }),
    fc.record({ type: fc.constantFrom(Frame.FIN, Frame.RST), stream: fc.integer({ min: 1, max: 0xffff_ffff }), payload: fc.constant(new Uint8Array()) }),
    fc.record({ type: fc.constant(Frame.PING), stream: fc.constant(0), payload: fc.constant(new Uint8Array()) }),
  );
  fc.assert(fc.property(fc.array(anyFrame, { maxLength: 20 }), fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }), (frames, cuts) => {
    const batch = new Batch();
    for (const { type, stream, payload } of frames) batch.frame(type, stream, payload);
    const written: Buffer[] = [];
    batch.drainTo((bytes) => written.push(bytes));
    const bytes = Buffer.concat(written);
    const seen: string[] = [];
    let data = '';
    const flush = (): void => {
      if (data) seen.push(data);
      data = '';
    };
    const reader = new FrameReader({
      onDataFrame: (stream, piece) => {
        const prefix = `data ${stream} `;
        data = data.startsWith(prefix) ? data + piece.toString('hex') : (flush(), prefix + piece.toString('hex'));
      },
      onFrame: (type, stream, payload) => {
        flush();
        seen.push(`${type} ${stream} ${payload.toString('hex')}`);
      },
    });
    for (let at = 0, i = 0; at < bytes.length; i++) {
      const cut = cuts[i % cuts.length] ?? 1;
      reader.push(bytes.subarray(at, at + cut));
      at += cut;
    }
    flush();
    const expected: string[] = [];
    for (const { type, stream, payload } of frames) {
      const hex = Buffer.from(payload).toString('hex');
      const last = expected.at(-1);
      if (type !== Frame.DATA) expected.push(`${type} ${stream} ${hex}`);
      else if (last?.startsWith(`data ${stream} `)) expected[expected.length - 1] = last + hex;
      else expected.push(`data ${stream} ${hex}`);
    }
    expect(seen).toEqual(expected);
  }));
});

test('random bytes give frames or a protocol error, nothing else', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
    const reader = new FrameReader({ onDataFrame: () => {}, onFrame: (_type: FrameType) => {} });
    try {
      reader.push(Buffer.from(bytes));
    } catch (error) {
      expect(error).toBeInstanceOf(ProtocolError);
    }
  }));
});

describe('a peer that breaks the protocol loses its session, with the reason', () => {
  test.each([
    ['an unknown type', frame(99, 1, EMPTY), /unknown frame type 99/],
    [
      'a compressed payload that is none',
      Buffer.concat([frame(Frame.OPEN, 2, EMPTY), frame(Frame.PACKED, 2, Buffer.from('this is no brotli'))]),
      /compressed payload that is broken or too large/,
    ],
    [
      'a compressed payload that holds more than a frame may',
      Buffer.concat([frame(Frame.OPEN, 2, EMPTY), frame(Frame.PACKED, 2, brotliCompressSync(Buffer.alloc(65_537)))]),
      /broken or too large/,
    ],
    [
      'compressed data beyond the credit',
      Buffer.concat([frame(Frame.OPEN, 2, EMPTY), ...Array.from({ length: 17 }, () => frame(Frame.PACKED, 2, brotliCompressSync(Buffer.alloc(65_536))))]),
      /than its credit allows/,
    ],
    ['an oversized compressed frame', frame(Frame.PACKED, 2, EMPTY, 65_537), /length 65537/],
    ['a data frame without data', Buffer.concat([frame(Frame.OPEN, 2, EMPTY), frame(Frame.DATA, 2, EMPTY)]), /frame type 2 with length 0/],
    ['credit that is no number', Buffer.concat([frame(Frame.OPEN, 2, EMPTY), frame(Frame.WINDOW, 2, Buffer.alloc(3))]), /frame type 5 with length 3/],
    ['a sign of life with data', frame(Frame.PING, 0, Buffer.of(1)), /frame type 7 with length 1/],
    ['control on a stream', frame(Frame.CONTROL, 2, Buffer.from('{}')), /frame type 8 on stream 2/],
    ['data on stream 0', frame(Frame.DATA, 0, Buffer.of(1)), /frame type 2 on stream 0/],
    ['an oversized data frame', frame(Frame.DATA, 2, EMPTY, 65_537), /length 65537/],
    ['an oversized control frame', frame(Frame.CONTROL, 0, EMPTY, 0xffff_ffff), /length 4294967295/],
    ['a stream that is ours to open', frame(Frame.OPEN, 3, EMPTY), /not the peer's to open/],
    ['a stream opened twice', Buffer.concat([frame(Frame.OPEN, 2, EMPTY), frame(Frame.OPEN, 2, EMPTY)]), /open already/],
    ['data after the end', Buffer.concat([frame(Frame.OPEN, 2, EMPTY), frame(Frame.FIN, 2, EMPTY), frame(Frame.DATA, 2, Buffer.of(1))]), /after the end/],
    ['a second end', Buffer.concat([frame(Frame.OPEN, 2, EMPTY), frame(Frame.FIN, 2, EMPTY), frame(Frame.FIN, 2, EMPTY)]), /second end/],
    ['credit that was never used', Buffer.concat([frame(Frame.OPEN, 2, EMPTY), frame(Frame.WINDOW, 2, u32(1))]), /more credit/],
    ['control that is no JSON', frame(Frame.CONTROL, 0, Buffer.from('{')), /no JSON/],
    [
      'data beyond the credit',
      Buffer.concat([frame(Frame.OPEN, 2, EMPTY), ...Array.from({ length: 17 }, () => frame(Frame.DATA, 2, Buffer.alloc(65_536)))]),
      /than its credit allows/,
    ],
  ])('%s', async (_, bytes, reason) => {
    const { peer, ended } = await muxAndPeer();
    peer.write(bytes);
    expect(await ended).toMatch(reason);
  });
});

test('frames of streams that are over already are ignored', async () => {
  const { mux, peer, ended } = await muxAndPeer();
  for (const type of [Frame.DATA, Frame.FIN, Frame.RST]) peer.write(frame(type, 7, type === Frame.DATA ? Buffer.of(1) : EMPTY));
  peer.write(frame(Frame.WINDOW, 7, u32(5)));
  peer.write(frame(Frame.MOVE, 7, u32(5)));
  peer.write(frame(99, 1, EMPTY));
  expect(await ended).toMatch(/unknown frame type 99/);
  expect(mux.streamCount).toBe(0);
});

test('a silent peer is disconnected after 2.4 heartbeats, a live one is not', async () => {
  const { peer, ended } = await muxAndPeer(40);
  const started = Date.now();
  expect(await ended).toMatch(/^no sign of life for/);
  expect(Date.now() - started).toBeGreaterThanOrEqual(96);
  peer.destroy();

  const living = await muxAndPeer(40);
  const timer = setInterval(() => living.peer.write(frame(Frame.PING, 0, EMPTY)), 20);
  setTimeout(() => {
    clearInterval(timer);
    living.mux.close('enough');
  }, 300);
  expect(await living.ended).toBe('enough');
});

test.each([
  ['between 12 and 12.5 s after it was last heard, in time for what waits 15 s for it', undefined, 12_500],
  ['after 2.4 heartbeats of another length', 1000, 2500],
])('a peer that says nothing is given up %s', async (_, heartbeatMs, atMs) => {
  const { dialed, accepted } = await socketPair();
  sockets.push(dialed, accepted);
  jest.useFakeTimers();
  try {
    let reason = '';
    const mux = new Mux(accepted, 'server', {
      onOpen: () => {},
      onControl: () => {},
      onClose: (why) => {
        reason = why;
      },
    }, { heartbeatMs });
    jest.advanceTimersByTime(atMs - 1);
    expect(reason).toBe('');
    jest.advanceTimersByTime(2);
    expect(reason).toBe(`no sign of life for ${atMs / 1000} s`);
    expect(mux.silence).toBeGreaterThan(atMs - 500);
  } finally {
    jest.useRealTimers();
  }
});

/** A session without a network. */
function session(side: Side = 'server', options: MuxOptions = { heartbeatMs: 3_600_000 }, handlers: Partial<MuxHandlers> = {}) {
  const socket = new EmptySocket();
  const ended: unknown[][] = [];
  const mux = new Mux(socket, side, { onOpen: () => {}, onControl: () => {}, onClose: (...end) => ended.push(end), ...handlers }, options);
  return { mux, socket, ended };
}

/** What was written to a socket, as [type, stream, length of the payload]. */
function written(socket: EmptySocket): Array<readonly [number, number, number]> {
  const seen: Array<readonly [number, number, number]> = [];
  const note = (type: FrameType) => (stream: number, payload: Buffer) => void seen.push([type, stream, payload.length]);
  new FrameReader({ onDataFrame: note(Frame.DATA), onFrame: (type, stream, payload) => note(type)(stream, payload) }).push(Buffer.from(socket.received, 'hex'));
  return seen;
}

const nextIteration = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

type Ending = (mux: Mux) => void;

test.each<readonly [string, Ending, boolean]>([
  ['the test ends it', (mux) => mux.close('the test ends it'), false],
  ['the peer closed the connection', (mux) => mux.onEnd(), false],
  ['the connection was closed', (mux) => mux.onClose(), false],
  ['the connection was lost: why', (mux) => mux.onClose(new Error('why')), false],
  ['protocol error: unknown frame type 99', (mux) => mux.onData(frame(99, 1, EMPTY)), true],
  ['protocol error: the most control messages wait for this session, and too many for all', (mux) => mux.onQueueFull(), true],
  ['protocol error: a control message that is no JSON', (mux) => mux.onData(frame(Frame.CONTROL, 0, EMPTY)), true],
  ['the peer does not read: 4194349 bytes of answers wait for it', (mux) => {
    // Beside the frames that open and reset streams.
    for (let n = 0; n < 64; n++) mux.sendControl({ text: 'x'.repeat(65_516) });
  }, true],
])('a session that ended as "%s" says so once, with how many streams it cut off, and whether the peer is at fault', async (reason, end, atFault) => {
  const { mux, socket, ended } = session();
  const locals = Array.from({ length: 3 }, () => new EmptySocket());
  for (const local of locals) mux.open(EMPTY)?.join(local);
  mux.open(EMPTY)?.reset();
  const data = [new EmptySocket(), new EmptySocket()];
  mux.addDataConnection(data[0] ?? socket, 1);
  end(mux);
  await nextIteration();
  mux.addDataConnection(data[1] ?? socket, 3);
  expect(data.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  expect(ended).toEqual([[reason, 3, atFault]]);
  expect([locals.every(({ destroyed }) => destroyed), mux.streamCount, mux.open(EMPTY)]).toEqual([true, 0, undefined]);
  const { length } = socket.received;
  for (const again of [() => mux.close('again'), () => mux.onClose(), () => mux.sendControl({}), () => mux.whenTaken(() => ended.push(['taken']))]) again();
  mux.onData(frame(Frame.OPEN, 2, EMPTY));
  await nextIteration();
  expect([ended.length, mux.streamCount, socket.received.length]).toEqual([1, 0, length]);
});

test('a session that is closed sends what waits, then why; the peer has a second to close the connection', () => {
  jest.useFakeTimers();
  try {
    const { mux, socket } = session();
    mux.open(Buffer.from('abc'))?.reset();
    mux.close('why', { type: 'bye' });
    expect(written(socket)).toEqual([[Frame.OPEN, 1, 3], [Frame.RST, 1, 0], [Frame.CONTROL, 0, 14]]);
    expect([socket.ended, socket.destroyed]).toEqual([true, false]);
    jest.advanceTimersByTime(999);
    expect(socket.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect([socket.destroyed, jest.getTimerCount()]).toEqual([true, 0]);
  } finally {
    jest.useRealTimers();
  }
});

test('a session that is over processes no more of the control messages that wait', async () => {
  const controlQueue = new ControlQueue(Number.MIN_VALUE);
  let processed = 0;
  const { mux } = session('server', { controlQueue, heartbeatMs: 3_600_000 }, {
    onControl: () => {
      processed++;
      for (const began = performance.now(); performance.now() === began;);
    },
  });
  for (let n = 0; n < 3; n++) mux.onData(frame(Frame.CONTROL, 0, Buffer.from('{}')));
  expect([processed, controlQueue.holds(mux)]).toEqual([1, true]);
  mux.close('done');
  expect(controlQueue.holds(mux)).toBe(false);
  for (let n = 0; n < 3; n++) await nextIteration();
  expect(processed).toBe(1);
});

test('control messages and credit overtake what else waits, everything of a stream stays in order', () => {
  const { mux, socket } = session();
  const stream = mux.open(EMPTY, true);
  if (!stream) throw new Error('there is space');
  mux.addDataConnection(new EmptySocket(), 1);
  mux.sendData(1, Buffer.alloc(3), true);
  mux.sendPacked(1, Buffer.alloc(5), false);
  mux.moveOut(stream, undefined);
  mux.sendFin(1);
  mux.sendReset(1);
  mux.sendWindow(1, 7);
  mux.sendControl({});
  mux.close('done');
  expect(written(socket)).toEqual([
    [Frame.WINDOW, 1, 4],
    [Frame.CONTROL, 0, 2],
    [Frame.OPEN, 1, 0],
    [Frame.DATA, 1, 3],
    [Frame.PACKED, 1, 5],
    [Frame.MOVE, 1, 4],
    [Frame.FIN, 1, 0],
    [Frame.RST, 1, 0],
  ]);
});

test('each heartbeat sends a sign of life, and asks for the data connections that are missing', () => {
  jest.useFakeTimers();
  try {
    const wanted: number[][] = [];
    const options = { heartbeatMs: 1000, heardOutOfBand: () => performance.now() };
    const { mux, socket } = session('agent', options, { onDataConnectionsWanted: (ids) => wanted.push(ids) });
    expect(wanted).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(wanted).toEqual([[3, 5, 7, 9, 10, 12, 14, 16]]);
    mux.dataConnectionFailed(5);
    jest.advanceTimersByTime(1998);
    expect(wanted.length).toBe(1);
    jest.advanceTimersByTime(1001);
    expect(wanted.slice(1)).toEqual([[17]]);
    expect(written(socket)).toEqual(Array.from({ length: 3 }, () => [Frame.PING, 0, 0]));
    mux.close('done');
    // The timer that closes the connection.
    expect(jest.getTimerCount()).toBe(1);
    const later = session('agent', { ...options, dataAfterMs: 1600 }, { onDataConnectionsWanted: (ids) => wanted.push(ids) });
    jest.advanceTimersByTime(1599);
    expect(wanted.length).toBe(2);
    jest.advanceTimersByTime(1000);
    expect(wanted.length).toBe(3);
    later.mux.close('done');
  } finally {
    jest.useRealTimers();
  }
});

test('a control message and a request may have 64 KB', () => {
  const { mux, socket } = session();
  mux.sendControl({ text: 'x'.repeat(65_525) });
  expect(() => mux.sendControl({ text: 'x'.repeat(65_526) })).toThrow(expect.objectContaining({ name: 'ProtocolError' }));
  expect([mux.open(Buffer.alloc(65_536))?.id, mux.open(Buffer.alloc(65_537))]).toEqual([1, undefined]);
  mux.close('done');
  expect(written(socket)).toEqual([[Frame.CONTROL, 0, 65_536], [Frame.OPEN, 1, 65_536]]);
});

test('a session has 65,536 streams, of both sides together; further ones of the peer are reset', async () => {
  let opened = 0;
  const { mux, socket } = session('server', undefined, { onOpen: () => opened++ });
  const ours = mux.open(EMPTY);
  const opens = Buffer.concat(Array.from({ length: 65_536 }, (_, n) => frame(Frame.OPEN, 2 + 2 * n, EMPTY)));
  mux.onData(opens);
  expect([opened, mux.streamCount, mux.open(EMPTY)]).toEqual([65_535, 65_536, undefined]);
  ours?.reset();
  expect(mux.open(EMPTY)?.id).toBe(3);
  await nextIteration();
  expect(written(socket)).toEqual([[Frame.OPEN, 1, 0], [Frame.RST, 131_072, 0], [Frame.RST, 1, 0], [Frame.OPEN, 3, 0]]);
  mux.onClose();
});

test('requests are read from the payload of OPEN, however often and of however many kinds, and what is none is none', () => {
  const requests = Array.from({ length: 600 }, (_, n): OpenRequest => ({ kind: 'tcp', targets: [`127.0.0.1:${n % 300}`] }));
  for (const request of requests) expect(decodeOpen(encodeOpen(request))).toEqual(request);
  const long: OpenRequest = { kind: 'tcp', targets: Array.from({ length: 500 }, (_, n) => `10.0.0.1:${n}`) };
  for (let i = 0; i < 2; i++) expect(decodeOpen(encodeOpen(long))).toEqual(long);
  for (const text of ['', '{', 'null', '{"kind":"tcp"}', '{"kind":"of a newer server"}']) {
    for (let i = 0; i < 2; i++) expect(decodeOpen(Buffer.from(text))).toBeUndefined();
  }
});
