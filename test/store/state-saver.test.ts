import { afterEach, expect, jest, test } from '@jest/globals';
import { NotFollowedError } from '../../src/store/change-log.ts';
import type { CounterBatch } from '../../src/store/hot/counters.ts';
import { StateSaver } from '../../src/store/state-saver.ts';
import { LogRecorder } from '../support/log-recorder.ts';

afterEach(() => {
  jest.useRealTimers();
});

function tunnel(id: number, inletBytes: number): CounterBatch['tunnels'][number] {
  return { id, running: true, rate: 0, connections: 0, inletBytes, exportBytes: 0 };
}

/** A source whose batches are numbered, and what becomes of them. */
function recorded() {
  let taken = 0;
  const saved: number[] = [];
  const restored: CounterBatch[] = [];
  const batch = (port: number): CounterBatch => ({
    clients: [],
    tunnels: [{ id: port, running: true, rate: 0, connections: 0, inletBytes: 0, exportBytes: 0 }],
    hosts: [],
  });
  return {
    saved,
    restored,
    source: {
      takeDirty: async () => batch(++taken),
      restoreDirty: async (given: CounterBatch) => {
        restored.push(given);
      },
    },
    store: {
      saveCounters: async ({ tunnels }: CounterBatch) => {
        saved.push(tunnels.at(-1)?.id ?? 0);
      },
      tryWrite: async () => undefined,
    },
  };
}

test('requests for fresh state wait for a write, and many of them share one write a second', async () => {
  jest.useFakeTimers();
  const { source, store, saved } = recorded();
  const saver = new StateSaver(source, store, new LogRecorder().logger);
  await Promise.all(Array.from({ length: 100 }, () => saver.fresh()));
  expect(saved).toEqual([1]);
  jest.advanceTimersByTime(999);
  await saver.fresh();
  expect(saved).toEqual([1]);
  jest.advanceTimersByTime(1);
  await saver.fresh();
  expect(saved).toEqual([1, 2]);
});

test('saves every five seconds and when it stops', async () => {
  jest.useFakeTimers();
  const { source, store, saved } = recorded();
  const saver = new StateSaver(source, store, new LogRecorder().logger);
  saver.start();
  await jest.advanceTimersByTimeAsync(10_000);
  expect(saved).toEqual([1, 2]);
  await saver.stop();
  await jest.advanceTimersByTimeAsync(10_000);
  expect(saved).toEqual([1, 2, 3]);
});

test('the rows of the records get everything with the first save, after a minute, when fresh state is requested, and at the end', async () => {
  jest.useFakeTimers();
  const batches: CounterBatch[] = [
    { clients: [], tunnels: [tunnel(1, 1), tunnel(2, 1)], hosts: [] },
    { clients: [], tunnels: [tunnel(1, 2)], hosts: [] },
    { clients: [], tunnels: [tunnel(3, 3)], hosts: [] },
  ];
  const written: string[] = [];
  const saver = new StateSaver(
    { takeDirty: async () => batches.shift() ?? { clients: [], tunnels: [], hosts: [] }, restoreDirty: async () => undefined },
    {
      async saveCounters({ tunnels }: CounterBatch, { rows } = {}) {
        written.push(`${rows === true ? 'rows' : 'counters'} ${tunnels.map(({ id, inletBytes }) => `${id}=${inletBytes}`).join(' ')}`);
      },
      tryWrite: async () => undefined,
    },
    new LogRecorder().logger,
  );
  saver.start();
  await jest.advanceTimersByTimeAsync(15_000);
  await saver.fresh();
  expect(written.splice(0)).toEqual(['rows 1=1 2=1', 'counters 1=2', 'counters 3=3', 'rows 1=2 3=3']);
  batches.push({ clients: [], tunnels: [tunnel(1, 4)], hosts: [] }, { clients: [], tunnels: [tunnel(2, 5)], hosts: [] });
  await jest.advanceTimersByTimeAsync(10_000);
  await saver.stop();
  expect(written.splice(0)).toEqual(['counters 1=4', 'counters 2=5', 'rows 1=4 2=5']);
  saver.start();
  batches.push({ clients: [], tunnels: [tunnel(1, 6)], hosts: [] });
  await jest.advanceTimersByTimeAsync(60_000);
  expect(written.at(0)).toBe('counters 1=6');
  expect(written.at(-1)).toBe('rows 1=6');
  await saver.stop();
});

test('what the rows lack of a record is kept when it cannot be stored, and forgotten when its traffic is reset', async () => {
  const batches: CounterBatch[] = [{ clients: [], tunnels: [], hosts: [] }, { clients: [], tunnels: [tunnel(1, 9), tunnel(2, 9)], hosts: [] }];
  const written: Array<readonly string[]> = [];
  let broken = false;
  const tryWrite = async () => {
    if (broken) throw new Error('the disk is full');
  };
  const saver = new StateSaver(
    { takeDirty: async () => batches.shift() ?? { clients: [], tunnels: [], hosts: [] }, restoreDirty: async () => undefined },
    {
      async saveCounters({ tunnels }: CounterBatch) {
        await tryWrite();
        written.push(tunnels.map(({ id, inletBytes }) => `${id}=${inletBytes}`));
      },
      tryWrite,
    },
    new LogRecorder().logger,
  );
  await saver.save();
  await saver.save();
  broken = true;
  await saver.stop();
  broken = false;
  saver.trafficReset('tunnel', 1);
  await saver.stop();
  expect(written).toEqual([[], ['1=9', '2=9'], ['2=9']]);
});

test('a record whose row cannot be stored stays known, and is logged once, although its counters alone can be', async () => {
  const log = new LogRecorder();
  const saver = new StateSaver(
    { takeDirty: async () => ({ clients: [], tunnels: [tunnel(1, 9), tunnel(2, 9)], hosts: [] }), restoreDirty: async () => undefined },
    {
      async saveCounters({ tunnels }: CounterBatch, { rows } = {}) {
        if (rows === true && tunnels.some(({ id }) => id === 1)) throw new Error('refused');
      },
      tryWrite: async () => undefined,
    },
    log.logger,
  );
  for (const save of [() => saver.stop(), () => saver.save(), () => saver.stop()]) await save();
  expect(log.entries).toMatchObject([{ records: ['tunnel 1'] }]);
});

test('counters that may be from before a reset of traffic are stored later, without a word', async () => {
  const { source, restored } = recorded();
  const log = new LogRecorder();
  const tried = jest.fn<() => Promise<void>>().mockRejectedValueOnce(new NotFollowedError()).mockResolvedValue();
  const saver = new StateSaver(source, { saveCounters: tried, tryWrite: () => Promise.reject(new Error('not asked for')) }, log.logger);
  await saver.save();
  expect([tried.mock.calls.length, restored.map(({ tunnels }) => tunnels[0]?.id), log.entries]).toEqual([1, [1], []]);
  await saver.save();
  expect([tried.mock.calls.length, restored.length, log.entries]).toEqual([2, 1, []]);
});

test('keeps what could not be saved, logs it, and continues', async () => {
  const { source, restored } = recorded();
  const log = new LogRecorder();
  let broken = true;
  const write = async () => {
    if (broken) throw new Error('the disk is full');
  };
  const saver = new StateSaver(source, { saveCounters: write, tryWrite: write }, log.logger);
  await saver.save();
  expect(restored).toHaveLength(1);
  await log.line(/counters could not be stored/);
  broken = false;
  await saver.save();
  expect(restored).toHaveLength(1);
});
