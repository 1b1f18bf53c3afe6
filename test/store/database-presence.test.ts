import { expect, jest, test } from '@jest/globals';
import pg from 'pg';
import pino from 'pino';
import { databasePlace } from '../../src/store/database-place.ts';
import { DatabasePresence, type PresenceOptions } from '../../src/store/database-presence.ts';
import { ServerRunningError } from '../../src/store/errors.ts';
import { openStore } from '../../src/store/store.ts';
import { testDatabases } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { describeWith } from '../support/programs.ts';

describeWith('initdb', 'servers on a PostgreSQL database', () => {
  const databases = testDatabases('postgresql');

  const opener = (url: string) => (options: Partial<PresenceOptions> = {}) =>
    DatabasePresence.open({ url, log: pino({ level: 'silent' }), alone: false, onSilent: () => undefined, onLost: () => undefined, ...options });

  test('have one leader; when it ends, another one leads', async () => {
    const open = opener((await databases.create()).url);
    const [one, two, three] = [await open(), await open(), await open()];
    expect([one, two, three].map(({ leads }) => leads)).toEqual([true, false, false]);
    await one.close();
    await eventually(() => [one, two, three].filter(({ leads }) => leads).length, (leaders) => leaders === 1);
    expect(one.leads).toBe(false);
    await Promise.all([two.close(), three.close()]);
  });

  test('and a command that needs the database for itself exclude each other', async () => {
    const { url, dataDir } = await databases.create();
    const open = opener(url);
    const server = await open();
    // An import goes through the running server because of this error.
    const refused: unknown = await openStore({ url, dataDir, log: pino({ level: 'silent' }), alone: true }).catch((error: unknown) => error);
    await server.close();
    expect(refused).toBeInstanceOf(ServerRunningError);
    expect(refused).toMatchObject({ message: `${databasePlace(url)}: another server is running on this database` });
    const command = await open({ alone: true });
    await expect(open()).rejects.toThrow(ServerRunningError);
    await command.close();
  });

  test('that lose their connection are there again; one whose database was taken meanwhile says so', async () => {
    const { url } = await databases.create();
    const lost: string[] = [];
    const log = new LogRecorder();
    const open = () => DatabasePresence.open({ url, log: log.logger, alone: false, onSilent: () => undefined, onLost: ({ message }) => lost.push(message) });
    const server = await open();
    const administrator = new pg.Client({ connectionString: url });
    await administrator.connect();
    const cut = () =>
      administrator.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'adit presence' AND datname = current_database()`);
    await cut();
    await eventually(() => server.leads, (leads) => !leads);
    await eventually(() => server.leads, Boolean);
    expect(lost).toEqual([]);
    expect(await log.line(/was lost/)).toMatchObject({ reason: expect.stringMatching(/administrator command/) });
    expect(log.entries.map(({ msg }) => msg)).toEqual([expect.stringMatching(/was lost/), expect.stringMatching(/was restored/)]);
    // A server of version 0.1 waits for the lock.
    const taken = administrator.query('SELECT pg_advisory_lock(72707371)');
    const second = new pg.Client({ connectionString: url });
    await second.connect();
    await second.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'adit presence' AND datname = current_database()`);
    await taken;
    await eventually(() => lost.length, (count) => count > 0);
    expect(lost[0]).toBe('another server is running on this database');
    await Promise.all([server.close(), administrator.end(), second.end()]);
  });

  test('whose connection gets no answer say that the database is silent, do not lead, and connect again', async () => {
    const open = opener((await databases.create()).url);
    const seen: Array<readonly [silent: boolean, leads: boolean]> = [];
    const server = await open({ onSilent: (silent) => seen.push([silent, server.leads]) });
    const spies = [
      jest.spyOn(pg.Client.prototype, 'connect').mockImplementationOnce(() => Promise.reject(new Error('timeout expired'))),
      jest.spyOn(pg.Client.prototype, 'query').mockImplementationOnce(() => Promise.reject(new Error('Query read timeout'))),
    ];
    await eventually(() => seen.length, (count) => count >= 3);
    for (const spy of spies) spy.mockRestore();
    expect(seen).toEqual([[true, false], [true, false], [false, expect.any(Boolean)]]);
    await eventually(() => server.leads, Boolean);
    await server.close();
  });

  test('log why they cannot connect again, once for each outage', async () => {
    const { url } = await databases.create();
    const log = new LogRecorder();
    const server = await DatabasePresence.open({ url, log: log.logger, alone: false, onSilent: () => undefined, onLost: () => undefined });
    const name = new URL(url).pathname.slice(1);
    const other = new URL(url);
    other.pathname = '/postgres';
    const administrator = new pg.Client({ connectionString: other.href });
    await administrator.connect();
    const refused = [];
    for (let outage = 0; outage < 2; outage++) {
      const [restored, notRestored] = [log.next(/was restored/), log.next(/cannot be restored/)];
      await administrator.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`);
      await administrator.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
      refused.push(await notRestored);
      await administrator.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS true`);
      await restored;
    }
    for (const { reason } of refused) expect(reason).toMatch(/not currently accepting connections/);
    expect(log.entries.filter(({ msg }) => /cannot be restored/.test(msg))).toEqual(refused);
    await Promise.all([server.close(), administrator.end()]);
  });
});
