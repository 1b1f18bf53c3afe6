import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { expect, test } from '@jest/globals';
import { openDatabase } from '../../../src/store/sqlite/binding.ts';
import { guardMemory } from '../../../src/store/sqlite/exit-guard.ts';
import type { WorkerSettings, WriterRequest } from '../../../src/store/sqlite/protocol.ts';
import { WorkerLink } from '../../../src/store/sqlite/worker-link.ts';
import { sized } from '../../support/endurance.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const rounds = sized(12, 1000, 24);
const file = path.join(temporaryDirectory(), 'worker.db');
const program = new URL('../../../dist/store/sqlite/worker.js', import.meta.url);

type Link = WorkerLink<WriterRequest>;

/** How a worker ends. */
const ends: readonly ((link: Link) => Promise<unknown>)[] = [
  (link) => link.close(),
  (link) => link.terminate(),
  // Inside a transaction, which is nobody's then, and while a statement runs.
  async (link) => {
    const asked = [link.ask('execute', `INSERT INTO written VALUES ('lost')`, [], 1), link.ask('read', longRead, [])];
    await link.terminate();
    return Promise.allSettled(asked);
  },
  async (link) => {
    await link.close();
    await crash();
  },
];
const longRead = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT sum(i) FROM n';

/** Lets a worker die of an error that nothing catches. */
async function crash(): Promise<void> {
  const worker = new Worker(program, { workerData: { file, role: 'writer', guard: guardMemory() } satisfies WorkerSettings, execArgv: [] });
  await once(worker, 'message');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
  worker.postMessage(undefined);
  await once(worker, 'error');
}

test(`a worker that uses SQLite can be started, closed, terminated and crashed ${rounds} times: the process and the file stay whole`, async () => {
  const database = openDatabase(file);
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE written (round TEXT)');
  let filesOpen = 0;
  let lost = 0;
  for (let round = 0; round < rounds; round++) {
    const link: Link = new WorkerLink(file, 'writer', () => {
      lost++;
    });
    await link.started();
    // The end of the process waits for the statement that runs then (exit-guard.ts); one listener serves all workers, those of other suites included.
    expect(process.listeners('exit').filter(({ name }) => name === 'haltAll').length).toBe(1);
    expect(await link.ask('execute', 'INSERT INTO written VALUES (?)', [String(round)])).toBe(1);
    await ends[round % ends.length]?.(link);
    if (round === ends.length * 2) filesOpen = openFiles();
  }
  expect(lost).toBe(rounds / 2);
  expect(database.prepare(`SELECT count(*) AS count FROM written WHERE round <> 'lost'`).all()).toEqual([{ count: rounds }]);
  expect(database.prepare(`SELECT count(*) AS count FROM written WHERE round = 'lost'`).all()).toEqual([{ count: 0 }]);
  expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  expect(openFiles()).toBeLessThan(filesOpen + 10);
  database.close();
}, 900_000);

/** Descriptors of this process, where the system tells. */
function openFiles(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
}
