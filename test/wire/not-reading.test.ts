import process from 'node:process';
import { expect, jest, test } from '@jest/globals';
import { Batch } from '../../src/wire/batch.ts';
import { ControlBudget } from '../../src/wire/control-budget.ts';
import { Frame } from '../../src/wire/frames.ts';
import { Mux, type MuxOptions, type Side } from '../../src/wire/mux.ts';
import { MOST_WAITING, Outbox } from '../../src/wire/outbox.ts';
import { EmptySocket } from '../support/empty-socket.ts';

/** A socket whose peer reads nothing. */
class StuckSocket extends EmptySocket {
  written = 0;
  paused = false;
  override pause(): void {
    this.paused = true;
  }
  override resume(): void {
    this.paused = false;
  }
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

const nextIteration = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** A session whose peer reads nothing. */
function stuck(side: Side, onControl: (mux: Mux) => void = () => undefined, options: MuxOptions = {}) {
  const socket = new StuckSocket();
  const ended: string[] = [];
  const mux: Mux = new Mux(socket, side, {
    onOpen: (stream) => stream.reset(),
    onControl: () => onControl(mux),
    onClose: (reason) => ended.push(reason),
  }, { heartbeatMs: 60_000, ...options });
  return { socket, mux, ended };
}

/** Sends the same again and again until the session ends. @returns how often that was */
async function until(ended: readonly string[], send: () => void, most: number): Promise<number> {
  for (let sent = 1; sent <= most; sent++) {
    send();
    if (sent % 50 === 0) await nextIteration();
    if (ended.length > 0) return sent;
  }
  throw new Error('the session goes on');
}

test.each(['server', 'agent'] as const)('a peer that opens streams which are refused, and reads nothing, loses its session (%s)', async (side) => {
  const { socket, mux, ended } = stuck(side);
  const first = side === 'server' ? 2 : 1;
  const opens = framesOf((batch) => {
    for (let i = 0; i < 1000; i++) batch.frame(Frame.OPEN, first + 2 * i);
  });
  const rounds = await until(ended, () => mux.onData(opens), 1500);
  expect(ended).toEqual([expect.stringMatching(/^the peer does not read: \d+ bytes of answers wait for it$/)]);
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

test('no streams are opened to a peer that reads nothing, and requests for streams cannot end its session', async () => {
  const { mux, ended } = stuck('server');
  const payload = Buffer.alloc(1000);
  let opened = 0;
  for (let i = 0; i < 10_000; i++) {
    const stream = mux.open(payload);
    if (!stream) continue;
    opened++;
    stream.reset();
    if (i % 100 === 0) await nextIteration();
  }
  expect(ended).toEqual([]);
  expect(opened).toBeGreaterThan(900);
  expect(opened * 1000).toBeLessThan(2.2 * MOST_WAITING.forOpening);
  mux.close('the test is over');
});

test('a peer that sends more control messages than a session needs loses its session', async () => {
  // It earns nothing meanwhile, and its messages take no time.
  const usage = jest.spyOn(process, 'cpuUsage').mockReturnValue({ user: 0, system: 0 });
  const { socket, mux, ended } = stuck('server', undefined, { controlBudget: new ControlBudget(() => 0) });
  const flood = framesOf((batch) => {
    for (let i = 0; i < 1000; i++) batch.frame(Frame.CONTROL, 0, Buffer.from('{"type":"overview"}'));
  });
  let sent = 0;
  for (; sent < 100_000 && ended.length === 0; sent += 1000) {
    mux.onData(flood);
    while (socket.paused && ended.length === 0) await nextIteration();
  }
  usage.mockRestore();
  expect(ended).toEqual(['protocol error: more control messages than a session may send']);
  expect(sent).toBeGreaterThan(20_000);
  expect(sent).toBeLessThan(34_000);
});

test('expensive control messages are queued, those of another peer are barely delayed, nothing more is read meanwhile, and the end of the connection comes after them', async () => {
  const seen: string[] = [];
  function slow(name: string) {
    const { socket, mux, ended } = stuck('server', () => {
      seen.push(name);
      for (const began = performance.now(); performance.now() - began < 5;);
    });
    return {
      socket,
      mux,
      ended,
      control: (count: number) =>
        mux.onData(framesOf((batch) => {
          for (let i = 0; i < count; i++) batch.frame(Frame.CONTROL, 0, Buffer.from('{}'));
        })),
    };
  }
  const [hasty, other] = [slow('hasty'), slow('other')];
  hasty.control(200);
  expect(hasty.socket.paused).toBe(false);
  hasty.control(100);
  other.control(1);
  hasty.mux.onEnd();
  expect(seen.length).toBeLessThan(2);
  expect([hasty.socket.paused, other.socket.paused]).toEqual([true, false]);
  while (!seen.includes('other')) await nextIteration();
  expect(seen.length).toBeLessThan(5);
  while (hasty.socket.paused) await nextIteration();
  expect(seen.length).toBeGreaterThan(40);
  expect(seen.length).toBeLessThan(100);
  expect(hasty.ended).toEqual([]);
  while (hasty.ended.length === 0) await nextIteration();
  expect(seen.length).toBe(301);
  expect(hasty.ended).toEqual(['the peer closed the connection']);
  other.mux.close('the test is over');
});

const controls = (count: number, bytes = 2): Buffer =>
  framesOf((batch) => {
    for (let i = 0; i < count; i++) batch.frame(Frame.CONTROL, 0, Buffer.alloc(bytes, ' ').fill('{}', 0, 2));
  });

/** A session whose first message takes longer than an iteration may, so that the others wait. */
function busy() {
  let took = false;
  return stuck('server', () => {
    if (took) return;
    took = true;
    for (const began = performance.now(); performance.now() - began < 6;);
  });
}

test('a session for which 4 MB of control messages wait ends: one read brings more than a pause can hold back', () => {
  const { mux, ended } = busy();
  mux.onData(controls(3900));
  expect(ended).toEqual([]);
  mux.onData(controls(300));
  expect(ended).toEqual(['protocol error: more control messages than may wait']);
});

test('if 64 MB of control messages wait for all sessions together, the session with the most ends, and the others go on', async () => {
  const small = busy();
  small.mux.onData(controls(10));
  const large = Array.from({ length: 20 }, busy);
  for (const [index, { mux }] of large.entries()) mux.onData(controls(3500 + index));
  const ended = large.flatMap((session, index) => session.ended.map((reason) => [index, reason]));
  expect(ended.length).toBeGreaterThan(0);
  expect(ended.length).toBeLessThan(6);
  for (const [, reason] of ended) expect(reason).toBe('protocol error: the most control messages wait for this session, and too many for all');
  for (const { mux } of large) mux.close('the test is over');
  await nextIteration();
  expect(small.ended).toEqual([]);
  small.mux.close('the test is over');
});

/** Sends up to 100 control messages, each of which takes 500 ms. @param busy where the process works during this time; absent = it waits for a processor */
async function expensive(busy?: 'user' | 'system'): Promise<readonly string[]> {
  const { mux, ended } = stuck('server', () => {
    later += 500;
  });
  let later = 0;
  const now = performance.now.bind(performance);
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + later);
  const used = (kind: 'user' | 'system', before: NodeJS.CpuUsage | undefined): number => (busy === kind ? later * 1000 : 0) - (before?.[kind] ?? 0);
  const usage = jest.spyOn(process, 'cpuUsage').mockImplementation((before) => ({ user: used('user', before), system: used('system', before) }));
  try {
    // Each costs 5 MB, of which the session earns 2 MB in that time.
    for (let sent = 0; sent < 100 && ended.length === 0; sent++) {
      mux.onData(controls(1));
      await nextIteration();
    }
    return [...ended];
  } finally {
    clock.mockRestore();
    usage.mockRestore();
    mux.close('the test is over');
  }
}

test.each(['user', 'system'] as const)('a session whose control messages take too much %s time ends, however few they are', async (busy) => {
  expect(await expensive(busy)).toEqual(['protocol error: control messages that take more time than a session may']);
});

test('time in which the process waits for a processor is not counted', async () => {
  expect(await expensive()).toEqual([]);
});

test('readers that waited go on a few at a time, so that what they bring fits', async () => {
  const socket = new StuckSocket();
  const outbox = new Outbox(socket, () => undefined);
  outbox.data(Frame.DATA, 1, Buffer.alloc(1));
  outbox.flush();
  const woken: number[] = [];
  for (let reader = 0; reader < 200; reader++) {
    outbox.park({
      owner: 0,
      wake: () => {
        woken.push(reader);
        // Its socket is read in the next turn.
        setImmediate(() => outbox.data(Frame.DATA, 2 * reader + 2, Buffer.alloc(60_000)));
      },
    });
  }
  outbox.onDrain();
  for (let i = 0; i < 20; i++) await nextIteration();
  expect(outbox.congested).toBe(true);
  expect(woken.length).toBeGreaterThan(15);
  expect(woken.length).toBeLessThanOrEqual(64);
  for (let i = 0; i < 200 && woken.length < 200; i++) {
    outbox.onDrain();
    await nextIteration();
  }
  expect(woken).toEqual(Array.from({ length: 200 }, (_, reader) => reader));
});
