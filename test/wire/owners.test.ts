import { expect, test } from '@jest/globals';
import { DataConnections } from '../../src/wire/data-connections.ts';
import { Frame } from '../../src/wire/frames.ts';
import { Mux, type Stream } from '../../src/wire/mux.ts';
import { Outbox, type Parked } from '../../src/wire/outbox.ts';
import { EmptySocket } from '../support/empty-socket.ts';

/** As much as a socket's reader gets at once. */
const PIECE = Buffer.alloc(64 * 1024);
/** Times that the peer takes what was sent. */
const ROUNDS = 200;
const ITERATIONS = 20;

/** A socket whose peer takes what was written whenever the test says so. */
class SlowSocket extends EmptySocket {
  override write(_: Buffer, taken?: () => void): boolean {
    taken?.();
    return false;
  }
}

/** Has always more to send, and reads once in each iteration of the event loop, as streams do. */
class Sender implements Parked {
  readonly owner: number;
  readonly #out: Outbox;
  sent = 0;

  constructor(owner: number, out: Outbox) {
    this.owner = owner;
    this.#out = out;
    this.wake();
  }

  wake(): void {
    setImmediate(() => {
      this.#out.data(Frame.DATA, 1, PIECE);
      this.sent += PIECE.length;
      if (this.#out.congested) this.#out.park(this);
      else this.wake();
    });
  }
}

/** @returns the bytes of each owner, with so many senders each */
async function sentBy(senders: readonly number[]): Promise<number[]> {
  const out = new Outbox(new SlowSocket(), () => undefined, true);
  const all = senders.flatMap((count, owner) => Array.from({ length: count }, () => new Sender(owner, out)));
  for (let round = 0; round < ROUNDS; round++) {
    for (let iteration = 0; iteration < ITERATIONS; iteration++) await new Promise((resolve) => setImmediate(resolve));
    out.onDrain();
  }
  out.close();
  return senders.map((_, owner) => all.reduce((sum, sender) => sender.owner === owner ? sum + sender.sent : sum, 0));
}

test('a client with many streams gets no more of a shared session than one with a single stream', async () => {
  const [one = 0, other = 0] = await sentBy([1, 100]);
  expect(one).toBeGreaterThan(0);
  expect(other / one).toBeLessThan(3);
});

test('each of many clients gets its share of a session, however many streams others have', async () => {
  const sent = await sentBy([1, 50, 1, 50, 1]);
  expect(Math.max(...sent) / Math.min(...sent)).toBeLessThan(2);
});

test('who waits until all was taken that is queued gets no further behind, although others always send more', async () => {
  const out = new Outbox(new SlowSocket(), () => undefined, true);
  const senders = Array.from({ length: 3 }, (_, owner) => new Sender(owner, out));
  const rounds: number[] = [];
  let round = 0;
  // Each goes on when the one before was taken, as messages for a node that was just reached.
  const next = (): void => {
    rounds.push(round);
    out.whenTaken(next);
  };
  out.whenTaken(next);
  for (; round < 10; round++) {
    for (let iteration = 0; iteration < ITERATIONS; iteration++) await new Promise((resolve) => setImmediate(resolve));
    expect(out.congested).toBe(true);
    out.onDrain();
  }
  out.close();
  expect(senders.every(({ sent }) => sent > 0)).toBe(true);
  expect(rounds).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('the streams of one client use a part of the data connections of a shared session', () => {
  const connections = new DataConnections('server', undefined, 0, { most: 10, ofOwner: 2 });
  for (let id = 1; id <= 19; id += 2) connections.add(new EmptySocket(), id);
  const mux = new Mux(new EmptySocket(), 'server', { onOpen: () => undefined, onControl: () => undefined, onClose: () => undefined });
  const claim = (owner: number) => {
    const stream = mux.open(Buffer.alloc(0)) as Stream;
    stream.owner = owner;
    return connections.claim(stream, undefined);
  };
  const [first] = [claim(1), claim(1)];
  expect([claim(1), claim(1)]).toEqual([undefined, undefined]);
  expect([claim(2), claim(2), claim(2)].map((claimed) => claimed !== undefined)).toEqual([true, true, false]);
  // One that is gone counts no more.
  first?.destroy();
  expect([claim(1), claim(1)].map((claimed) => claimed !== undefined)).toEqual([true, false]);
  connections.close();
  mux.close('');
});
