import { expect, test } from '@jest/globals';
import type { EngineEvent } from '../../../src/engine/face.ts';
import { type ChangedRecord, ChangedRecords } from '../../../src/engine/nodes/changed-records.ts';
import { eventually } from '../../support/eventually.ts';

test('what happens here is news again after the work of another node has failed', async () => {
  let tell: (event: EngineEvent) => void = () => {};
  const sent: ChangedRecord[] = [];
  const watch = (listener: typeof tell) => {
    tell = listener;
    return () => {};
  };
  const records = new ChangedRecords({ watch }, (changed) => sent.push(...changed));
  const failing = () => {
    tell({ kind: 'client', id: 1 });
    throw new Error('the record cannot be shown');
  };
  expect(() => records.hear(failing)).toThrow('the record cannot be shown');
  tell({ kind: 'client', id: 2 });
  await eventually(() => sent, (all) => all.length > 0);
  expect(sent).toEqual([['client', 2]]);
  records.stop();
});

test('other nodes are told of clients, tunnels and hosts, each once', async () => {
  let tell: (event: EngineEvent) => void = () => {};
  const sent: ChangedRecord[] = [];
  const watch = (listener: typeof tell) => {
    tell = listener;
    return () => {};
  };
  const records = new ChangedRecords({ watch }, (changed) => sent.push(...changed));
  for (const kind of ['host', 'tunnel', 'client', 'tunnel'] as const) tell({ kind, id: 7 });
  await eventually(() => sent, (all) => all.length > 0);
  expect(sent).toEqual([['host', 7], ['tunnel', 7], ['client', 7]]);
  records.stop();
});
