import { expect, test } from '@jest/globals';
import { Batch } from '../../src/wire/batch.ts';
import { Frame } from '../../src/wire/frames.ts';
import { Mux, type Side } from '../../src/wire/mux.ts';
import { MOST_WAITING, Outbox } from '../../src/wire/outbox.ts';
import { EmptySocket } from '../support/empty-socket.ts';

/** A socket whose peer reads nothing. */
class StuckSocket extends EmptySocket {
  written = 0;
  override write(chunk: Buffer): boolean {
    this.written += chunk.length;
    return false;
  }
}

function framesOf(write: (batch: Batch) => void): Buffer {
  const batch = new Batch();
  write(batch);
  const all: Buffer[] = [];
  batch.drainTo((bytes) => all.push(Buffer.from(bytes)));
  return Buffer.concat(all);
}

const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

/** A session whose peer reads nothing. */
function stuck(side: Side, onControl: (mux: Mux) => void = () => undefined) {
  const socket = new StuckSocket();
  const ended: string[] = [];
  const mux: Mux = new Mux(socket, side, {
    onOpen: (stream) => stream.reset(),
    onControl: () => onControl(mux),
    onClose: (reason) => ended.push(reason),
  }, { heartbeatMs: 60_000 });
  return { socket, mux, ended };
}

/** Sends the same again and again until the session ends. @returns how often that was */
async function until(ended: readonly string[], send: () => void, most: number): Promise<number> {
  for (let sent = 1; sent <= most; sent++) {
    send();
    if (sent % 50 === 0) await turn();
    if (ended.length > 0) return sent;
  }
  throw new Error('the session goes on');
}

test.each(['server', 'agent'] as const)('a peer that opens streams which are refused, and reads nothing, loses its session (%s)', async (side) => {
  const { socket, mux, ended } = stuck(side);
  const first = side === 'server' ? 2 : 1;
  const opens = framesOf((batch) => { for (let i = 0; i < 1000; i++) batch.frame(Frame.OPEN, first + 2 * i); });
  const rounds = await until(ended, () => mux.onData(opens), 1500);
  expect(ended).toEqual([expect.stringMatching(/^the other side does not read: \d+ bytes of answers wait for it$/)]);
  // What the socket had taken, and what waited.
  expect(rounds * 9000).toBeLessThan(2.2 * MOST_WAITING.inAll);
  expect(socket.written).toBeLessThan(1.1 * MOST_WAITING.inAll);
  expect(socket.destroyed).toBe(true);
});

test.each(['server', 'agent'] as const)('a peer that asks and asks, and reads no answer, loses its session (%s)', async (side) => {
  const { mux, ended } = stuck(side, (mux) => mux.sendControl({ type: 'declared', error: 'x'.repeat(1000) }));
  const ask = framesOf((batch) => batch.frame(Frame.CONTROL, 0, Buffer.from('{}')));
  expect(await until(ended, () => mux.onData(ask), 20_000)).toBeLessThan(2.2 * MOST_WAITING.inAll / 1000);
  expect(ended[0]).toMatch(/does not read/);
});

test('to a peer that reads nothing no more streams are opened, and nobody who wants one can end its session', async () => {
  const { mux, ended } = stuck('server');
  const payload = Buffer.alloc(1000);
  let opened = 0;
  for (let i = 0; i < 10_000; i++) {
    const stream = mux.open(payload);
    if (!stream) continue;
    opened++;
    stream.reset();
    if (i % 100 === 0) await turn();
  }
  expect(ended).toEqual([]);
  expect(opened).toBeGreaterThan(900);
  expect(opened * 1000).toBeLessThan(2.2 * MOST_WAITING.forOpening);
  mux.close('the test is over');
});

test('a peer that sends more control messages than a session needs loses its session', () => {
  let seen = 0;
  const { mux, ended } = stuck('server', () => { seen++; });
  const flood = framesOf((batch) => { for (let i = 0; i < 1000; i++) batch.frame(Frame.CONTROL, 0, Buffer.from('{"type":"overview"}')); });
  for (let i = 0; i < 100; i++) mux.onData(flood);
  expect(ended).toEqual(['protocol error: more control messages than a session may send']);
  expect(seen).toBeGreaterThan(20_000);
  expect(seen).toBeLessThan(60_000);
});

test('readers that waited go on a few at a time, so that what they bring fits', async () => {
  const socket = new StuckSocket();
  const outbox = new Outbox(socket, () => undefined);
  outbox.data(Frame.DATA, 1, Buffer.alloc(1));
  outbox.flush();
  const woken: number[] = [];
  for (let reader = 0; reader < 200; reader++) {
    outbox.park({
      wake: () => {
        woken.push(reader);
        // Its socket is read in the next turn.
        setImmediate(() => outbox.data(Frame.DATA, 2 * reader + 2, Buffer.alloc(60_000)));
      },
    });
  }
  outbox.onDrain();
  for (let i = 0; i < 20; i++) await turn();
  expect(outbox.congested).toBe(true);
  expect(woken.length).toBeGreaterThan(15);
  expect(woken.length).toBeLessThanOrEqual(64);
  for (let i = 0; i < 200 && woken.length < 200; i++) {
    outbox.onDrain();
    await turn();
  }
  expect(woken).toEqual(Array.from({ length: 200 }, (_, reader) => reader));
});
