import { expect, test } from '@jest/globals';
import { Batch } from '../../src/wire/batch.ts';
import { Frame, HEADER_BYTES } from '../../src/wire/frames.ts';
import { Outbox } from '../../src/wire/outbox.ts';
import { EmptySocket } from '../support/empty-socket.ts';

test('its size is that of all frames that wait, in however many buffers', () => {
  const batch = new Batch();
  const payload = Buffer.alloc(50_000);
  for (let count = 1; count <= 5; count++) {
    batch.frame(Frame.DATA, 1, payload);
    expect(batch.size).toBe(count * (HEADER_BYTES + payload.length));
  }
  let bytes = 0;
  batch.drainTo((piece) => {
    bytes += piece.length;
  });
  expect([bytes, batch.size]).toEqual([5 * (HEADER_BYTES + payload.length), 0]);
});

const KB = 1024;
const MB = 1024 * KB;
const PIECE = Buffer.alloc(64 * KB);

const nextIteration = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** A socket that has taken what was written, and takes more when the test says so. */
class SlowSocket extends EmptySocket {
  readonly written: string[] = [];
  override write(chunk: Buffer, taken?: () => void): boolean {
    this.written.push(chunk.toString('latin1'));
    taken?.();
    return false;
  }
}

/** Queues bytes of answers, headers included. */
function queue(out: Outbox, bytes: number): void {
  for (let left = bytes; left > 0; left -= HEADER_BYTES + PIECE.length) {
    out.frame(Frame.CONTROL, 0, PIECE.subarray(0, Math.min(PIECE.length, left - HEADER_BYTES)));
  }
}

/** An outbox, and how many bytes waited in it when it said that these are too many. */
function outbox(socket = new SlowSocket()) {
  const tooMany: number[] = [];
  return { out: new Outbox(socket, (bytes) => tooMany.push(bytes)), tooMany, socket };
}

test.each<readonly [string, (out: Outbox) => void, number]>([
  ['data, whose sender waits while there is no space', (out) => out.data(Frame.DATA, 1, PIECE), 0],
  ['a frame', (out) => out.frame(Frame.OPEN, 1, PIECE), 9 + 64 * KB],
  ['a frame without a payload', (out) => out.frame(Frame.RST, 1), 9],
  ['a frame that waits for others', (out) => out.gatheredFrame(Frame.OPEN, 1, PIECE), 9 + 64 * KB],
  ['one without a payload', (out) => out.gatheredFrame(Frame.FIN, 1), 9],
  ['a frame with a number', (out) => out.frameU32(Frame.MOVE, 1, 5), 13],
  ['an urgent frame', (out) => out.urgentFrame(Frame.CONTROL, 0, PIECE), 9 + 64 * KB],
  ['one without a payload that is urgent', (out) => out.urgentFrame(Frame.PING, 0), 9],
  ['an urgent frame with a number', (out) => out.urgentFrameU32(Frame.WINDOW, 1, 5), 13],
])('of %s, these bytes count as answers that wait: above 1 MB nothing is opened, above 4 MB the session ends', (_, send, bytes) => {
  const [opening, all] = [outbox(), outbox()];
  queue(opening.out, MB - bytes);
  send(opening.out);
  expect(opening.out.full).toBe(false);
  opening.out.frame(Frame.RST, 1);
  expect([opening.out.full, opening.tooMany]).toEqual([true, []]);
  queue(all.out, 4 * MB - bytes);
  send(all.out);
  expect(all.tooMany).toEqual([]);
  all.out.frame(Frame.RST, 1);
  expect(all.tooMany).toEqual([4 * MB + 9]);
  // What the socket has does not count any more.
  all.out.flush();
  all.out.frame(Frame.RST, 1);
  expect([all.out.full, all.tooMany.length]).toEqual([false, 1]);
  for (const { out } of [opening, all]) out.close();
});

test('readers wait above 256 KB while the socket takes nothing, otherwise above 1 MB', () => {
  for (const [blocked, most] of [[true, 256 * KB], [false, MB]] as const) {
    const { out } = outbox();
    if (blocked) {
      out.data(Frame.DATA, 1, Buffer.of(1));
      out.flush();
    }
    queue(out, most);
    expect([blocked, out.congested]).toEqual([blocked, false]);
    out.data(Frame.DATA, 1, Buffer.of(1));
    expect([blocked, out.congested]).toEqual([blocked, true]);
    out.close();
  }
});

test('what is urgent is sent ahead of all that waits, everything else in its order', () => {
  const { out, socket } = outbox();
  out.data(Frame.DATA, 1, Buffer.from('one'));
  out.gatheredFrame(Frame.OPEN, 3, Buffer.from('two'));
  out.urgentFrame(Frame.CONTROL, 0, Buffer.from('early'));
  out.frame(Frame.OPEN, 5, Buffer.from('three'));
  out.urgentFrame(Frame.CONTROL, 0, Buffer.from('second'));
  out.data(Frame.DATA, 1, Buffer.from('four'), true);
  out.flush();
  expect(socket.written.join('').match(/[a-z]{3,}/g)).toEqual(['early', 'second', 'one', 'two', 'three', 'four']);
});

test('when nothing waits, all was taken in the next iteration', async () => {
  const { out } = outbox();
  let taken = false;
  out.whenTaken(() => {
    taken = true;
  });
  expect(taken).toBe(false);
  await nextIteration();
  expect(taken).toBe(true);
  out.close();
});

test('a session that is over sends nothing, resumes no reader, calls nobody back, and has no limits', async () => {
  const { out, socket, tooMany } = outbox();
  const called: string[] = [];
  out.data(Frame.DATA, 1, Buffer.of(1));
  out.whenTaken(() => called.push('taken before'));
  out.flush();
  out.whenTaken(() => called.push('taken'));
  for (let reader = 0; reader < 40; reader++) out.park({ owner: 0, wake: () => called.push('woken') });
  out.onDrain();
  expect(called).toEqual(['taken before', ...Array.from({ length: 16 }, () => 'woken'), 'taken']);
  out.data(Frame.DATA, 1, Buffer.of(2));
  out.whenTaken(() => called.push('taken after'));
  out.flush();
  const { length } = called;
  out.close();
  out.onDrain();
  await nextIteration();
  await nextIteration();
  queue(out, 5 * MB);
  expect([called.length, socket.written.length, tooMany]).toEqual([length, 2, []]);
});
