import { expect, test } from '@jest/globals';
import pg from 'pg';
import { untilNoDeadlock } from '../../src/store/deadlock.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { testDatabases } from '../support/database.ts';
import { describeWith } from '../support/programs.ts';

describeWith('initdb', 'a server that starts while others store their state', () => {
  const databases = testDatabases('postgresql');

  test('clears what ended servers left, although each waited for rows that the other one had locked', async () => {
    const database = await databases.create();
    const store = await database.open();
    const left = { vkey: 'a', connected: true, node: 'ended' };
    const { id: clientId } = await store.db.client.create({ data: left });
    const { id: tunnelId } = await store.db.tunnel.create({ data: { clientId, mode: 'tcp', port: 1, running: true } });
    const other = new pg.Client(database.url);
    await other.connect();
    await other.query('BEGIN');
    await other.query('UPDATE "Tunnel" SET rate = 1 WHERE id = $1', [tunnelId]);
    const cleared = store.forgetRunningState(['other']);
    const waiting = async () => (await store.db.$queryRaw<unknown[]>`SELECT 1 FROM pg_locks WHERE NOT granted`).length;
    await eventuallyAsync(waiting, (count) => count > 0);
    await other.query('UPDATE "Client" SET rate = 1 WHERE id = $1', [clientId]);
    await other.query('COMMIT');
    await other.end();
    await cleared;
    expect(await store.db.client.findMany({ select: { connected: true } })).toEqual([{ connected: false }]);
    expect(await store.db.tunnel.findMany({ select: { running: true, rate: true } })).toEqual([{ running: false, rate: 0n }]);
  });
});

test.each([
  ['P2034', 4, 5, 'done'],
  ['P2034', 5, 5, 'failed'],
  ['P2028', 1, 1, 'failed'],
])('after the error %s, %i times, a transaction has run %i times and has %s', async (code, failures, attempts, outcome) => {
  let tried = 0;
  const work = async () => {
    if (++tried <= failures) throw Object.assign(new Error('failed'), { code });
    return 'done';
  };
  expect([await untilNoDeadlock(work).catch((error: Error) => error.message), tried]).toEqual([outcome, attempts]);
});
