import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from '@jest/globals';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { endChildren } from '../support/child.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { askHealth, LoopHold, watchedLoop } from '../support/loop-hold.ts';
import { signedNow, startServer } from '../support/processes.ts';
import { spawnScript } from '../support/script.ts';

afterEach(() => endChildren());

test('while another process holds the lock of the database the server serves on, and refuses writes with 503 after 5 s', async () => {
  const server = await startServer({ environment: watchedLoop });
  const hold = new LoopHold(server);
  const url = `http://127.0.0.1:${server.httpPort}`;
  const add = async (remark: string) => {
    const { auth_key: key, timestamp } = signedNow();
    const response = await fetch(`${url}/client/add/`, { method: 'POST', body: new URLSearchParams({ auth_key: key, timestamp: String(timestamp), remark }) });
    return [response.status, await response.json()];
  };
  const ready = async () => {
    const response = await fetch(`${url}/readyz`);
    return [response.status, await response.json()];
  };
  expect(await add('before')).toEqual([200, { status: 1, msg: 'add success', id: 1 }]);

  const holder = spawnScript(new URL('../store/processes/hold-lock.ts', import.meta.url), [path.join(server.dataDir, databaseFileName)]);
  await once(createInterface({ input: holder.stdout }), 'line');
  await hold.most();
  const stop = askHealth(server);
  expect(await add('meanwhile')).toEqual([503, { status: 0, msg: 'the database is busy' }]);
  expect(await hold.most()).toBeLessThan(50);
  expect(await stop()).toBeLessThan(2500); // other suites use the processors, too: a lock that held the thread would take 5 s
  expect(await ready()).toEqual([503, { status: 'not ready', failed: ['database'], codes: { database: 'DATABASE_BUSY' } }]);

  holder.kill('SIGKILL');
  await once(holder, 'exit');
  await eventuallyAsync(ready, ([status]) => status === 200);
  expect(await add('after')).toEqual([200, { status: 1, msg: 'add success', id: 2 }]);
}, 90_000);
