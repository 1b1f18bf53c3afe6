import { afterEach, expect, jest, test } from '@jest/globals';
import type { CounterBatch } from '../../src/store/hot/counters.ts';
import { StateSaver } from '../../src/store/state-saver.ts';
import { LogRecorder } from '../support/log-recorder.ts';

afterEach(() => {
  jest.useRealTimers();
});

/** A source whose batches are numbered, and what becomes of them. */
function recorded() {
  let taken = 0;
  const saved: number[] = [];
  const restored: CounterBatch[] = [];
  const batch = (port: number): CounterBatch => ({ clients: [], tunnels: [{ id: port, running: true, inletBytes: 0, exportBytes: 0 }], hosts: [] });
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
        saved.push(tunnels[0]?.id ?? 0);
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
