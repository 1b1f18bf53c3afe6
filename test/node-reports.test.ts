import { setImmediate as nextIteration } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { reportNode } from '../src/node-reports.ts';
import { type NodeFigures, NodeOutdatedError, NodeReplacedError } from '../src/store/nodes.ts';
import { LogRecorder } from './support/log-recorder.ts';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance'] }));
afterEach(() => void jest.useRealTimers());

/** The reports of a node, whose database does what a test says. */
function reporting() {
  const done: unknown[] = [];
  const loads: number[] = [];
  const during = { report: async () => {}, reported: async () => {}, leave: async () => {} };
  const node = { own: { draining: false } };
  const log = new LogRecorder();
  const figures = { agents: 1, connections: 2, lagMs: 3, stopping: false, unreached: [] };
  const reports = reportNode({
    node: {
      get own() {
        return node.own as never;
      },
      async report(given: NodeFigures) {
        const { load, ...others } = given;
        loads.push(load);
        expect(others).toEqual(figures);
        done.push('report');
        await during.report();
      },
      async leave() {
        done.push('leave');
        await during.leave();
      },
    },
    figures: () => figures,
    onReported: async (began) => {
      expect(typeof began).toBe('number');
      done.push('reported');
      await during.reported();
    },
    onDraining: (on) => done.push(on),
    log: log.logger,
    onReplaced: (error) => done.push(error.name),
  });
  const pass = async (ms: number) => {
    jest.advanceTimersByTime(ms);
    for (let turn = 0; turn < 3; turn++) await nextIteration();
    return done.splice(0);
  };
  return { reports, during, node, log, pass, loads };
}

test('a node reports every three seconds, learns whether it is to drain, and says when it has ended', async () => {
  const { reports, node, pass, loads } = reporting();
  for (const began = performance.now(); performance.now() - began < 2;);
  expect([await pass(2999), await pass(1)]).toEqual([[], ['report', false, 'reported']]);
  node.own.draining = true;
  expect(await pass(3000)).toEqual(['report', true, 'reported']);
  await reports.stop();
  expect(await pass(9000)).toEqual(['leave']);
  // Busy all the time, in thousandths.
  expect([loads.length, loads[0], loads.every((load) => load <= 1 && Number.isInteger(load * 1000))]).toEqual([2, 1, true]);
});

test('a node whose row has changed reports at once, or again after the report that is under way, which the end waits for', async () => {
  const { reports, during, pass } = reporting();
  let go = (): void => undefined;
  during.report = () => new Promise((resolve) => (go = resolve));
  reports.now();
  expect(await pass(0)).toEqual(['report']);
  for (let call = 0; call < 3; call++) reports.now();
  expect(await pass(6000)).toEqual([]);
  go();
  expect(await pass(0)).toEqual([false, 'reported', 'report']);
  go();
  expect(await pass(0)).toEqual([false, 'reported']);
  reports.now();
  reports.now();
  const stopped = reports.stop();
  expect(await pass(6000)).toEqual(['report']);
  go();
  await stopped;
  expect(await pass(6000)).toEqual([false, 'reported', 'leave']);
});

test('failures are logged when they begin and end; a node that was replaced, or is of a former version, must end', async () => {
  const { reports, during, log, pass } = reporting();
  const away = () => Promise.reject(new Error('it is away'));
  during.report = away;
  expect([await pass(3000), await pass(3000)]).toEqual([['report'], ['report']]);
  [during.report, during.reported] = [async () => {}, away];
  await pass(3000);
  during.reported = async () => {};
  await pass(3000);
  await pass(3000);
  expect(log.entries.map(({ msg }) => msg)).toEqual(['the state of this node could not be reported', 'the state of this node is reported again']);
  for (const error of [new NodeReplacedError('a'), new NodeOutdatedError('b')]) {
    during.report = () => Promise.reject(error);
    expect(await pass(3000)).toEqual(['report', error.name]);
  }
  expect(log.entries).toHaveLength(2);
  during.leave = away;
  await reports.stop();
  expect(log.entries.at(-1)?.msg).toBe('the end of this node could not be reported');
});
