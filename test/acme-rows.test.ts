import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { AcmeRows } from '../src/acme-rows.ts';
import { InstallationKeys } from '../src/installation-keys.ts';
import { parseLogged } from '../src/schema/writes/logged-changes.ts';
import { invitationOf } from '../src/settings/installation-key.ts';
import { testDatabases } from './support/database.ts';
import { LogRecorder } from './support/log-recorder.ts';
import { describeWith } from './support/programs.ts';
import type { TestStore } from './support/test-store.ts';

const directories: string[] = [];
afterEach(() => Promise.all(directories.splice(0).map((directory) => rm(directory, { recursive: true }))));

describeWith('initdb', 'files of ACME that servers share through PostgreSQL', () => {
  const databases = testDatabases('postgresql');

  /** A server, with the key of another one. */
  async function server(store: TestStore, other?: { readonly dataDir: string }) {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'adit-acme-'));
    directories.push(dataDir);
    const log = new LogRecorder();
    const keys = await InstallationKeys.open({ store, dataDir, invitation: other ? invitationOf(other.dataDir) : '', log: log.logger });
    return {
      dataDir,
      keys,
      log,
      rows: new AcmeRows({ store, keys, log: log.logger }, 'ca.example-1'),
      of: (name: string) => new AcmeRows({ store, keys, log: log.logger }, name),
    };
  }

  test('are the same for all, encrypted, and their changes are in the log of changes', async () => {
    const store = await databases.openEmpty();
    const one = await server(store);
    const other = await server(store, one);
    await one.rows.change(['a.example.pem'], (now) => {
      expect(now.size).toBe(0);
      return new Map([['a.example.pem', 'PRIVATE KEY'], ['a.example.json', 'failed'], ['account.json', 'the account']]);
    });
    expect(await Promise.all(['a.example.pem', 'b.example.pem', 'account.json', 'a.example.pem'].map((file) => other.rows.read(file)))).toEqual([
      'PRIVATE KEY',
      undefined,
      'the account',
      'PRIVATE KEY',
    ]);
    expect((await other.rows.list()).toSorted()).toEqual(['a.example.json', 'a.example.pem', 'account.json']);
    expect(await other.of('ca.example-2').list()).toEqual([]);
    expect(JSON.stringify(await store.db.sharedFile.findMany())).not.toMatch(/PRIVATE|failed|the account/);
    await other.rows.change(['a.example.pem', 'a.example.json'], (now) => {
      expect(Object.fromEntries(now)).toEqual({ 'a.example.pem': 'PRIVATE KEY', 'a.example.json': 'failed' });
      return new Map([['a.example.json', undefined], ['b.example.pem', 'another key']]);
    });
    await other.rows.change([], () => new Map([['orders.json', '{}']]));
    expect((await one.rows.list()).toSorted()).toEqual(['a.example.pem', 'account.json', 'b.example.pem', 'orders.json']);
    const logged = (await store.db.loggedCommit.findMany({ orderBy: { seq: 'asc' } })).flatMap(({ changes }) => parseLogged(changes));
    expect(logged.filter(({ resource }) => resource === 'acme')).toEqual(
      ['a.example', 'a.example', 'b.example'].map((name) => ({ resource: 'acme', name })),
    );
    expect(await store.db.auditEntry.count()).toBe(0);
  });

  test('that cannot be read are an error for those that wait for them, and later ones are read again', async () => {
    const store = await databases.openEmpty();
    const { keys, log } = await server(store);
    const findMany = jest.fn(async () => []).mockRejectedValueOnce(new Error('away'));
    const rows = new AcmeRows({ store: { db: { sharedFile: { findMany } } as never, transaction: store.transaction }, keys, log: log.logger }, 'ca.example-1');
    expect(await Promise.allSettled(['a', 'b'].map((file) => rows.read(file)))).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect([await rows.read('a'), findMany.mock.calls.length]).toEqual([undefined, 2]);
  });

  test('a change is made from what is stored at that moment, by any server', async () => {
    const store = await databases.openEmpty();
    const one = await server(store);
    const other = await server(store, one);
    const count = (rows: AcmeRows) => rows.change(['orders.json'], (now) => new Map([['orders.json', `${Number(now.get('orders.json') ?? 0) + 1}`]]));
    await Promise.all(Array.from({ length: 20 }, (_, index) => count(index % 2 === 0 ? one.rows : other.rows)));
    expect(await one.rows.read('orders.json')).toBe('20');
  });

  test('that somebody without the key changed, or moved to another name, are missing', async () => {
    const store = await databases.openEmpty();
    const { rows, log } = await server(store);
    await rows.change([], () => new Map([['a.example.pem', 'a'], ['b.example.pem', 'b']]));
    const a = await store.db.sharedFile.findUniqueOrThrow({ where: { name: 'acme/ca.example-1/a.example.pem' } });
    await store.transaction((tx) => tx.sharedFile.update({ where: { name: 'acme/ca.example-1/b.example.pem' }, data: { sealed: a.sealed } }));
    expect(await Promise.all([rows.read('a.example.pem'), rows.read('b.example.pem')])).toEqual(['a', undefined]);
    expect(log.entries.map(({ msg }) => msg).join('')).toContain('was changed by a program that lacks the key of the installation');
    await rows.change(['b.example.pem'], (now) => new Map([['b.example.pem', `${now.size}`]]));
    expect(await rows.read('b.example.pem')).toBe('0');
  });

  test('many are read, and encrypted with another key, and a server reads them that has not noticed yet', async () => {
    const store = await databases.openEmpty();
    const one = await server(store);
    const other = await server(store, one);
    const files = Array.from({ length: 450 }, (_, index) => `${index}.example.pem`);
    await one.rows.change([], () => new Map(files.map((file) => [file, `the text of ${file}`])));
    const before = new Set((await store.db.sharedFile.findMany()).map(({ sealed }) => sealed));
    const now = new Date();
    for (const name of ['one', 'other']) {
      await store.transaction((tx) =>
        tx.node.create({ data: { name, address: '', linkPort: 0, version: '1', incarnation: name, startedAt: now, seenAt: now } })
      );
    }
    await one.keys.begin();
    await one.keys.follow('one');
    expect(await other.keys.follow('other')).toBeUndefined();
    const after = await store.db.sharedFile.findMany();
    expect(after.filter(({ sealed }) => before.has(sealed))).toEqual([]);
    expect(after).toHaveLength(files.length + 1);
    for (const { rows } of [one, other]) expect(await Promise.all(files.map((file) => rows.read(file)))).toEqual(files.map((file) => `the text of ${file}`));
    await one.rows.change(['0.example.pem'], () => new Map([['0.example.pem', 'by the one that has not noticed']]));
    expect(await other.rows.read('0.example.pem')).toBe('by the one that has not noticed');
    expect(await one.keys.follow('one')).toBeUndefined();
    expect(await one.rows.read('1.example.pem')).toBe('the text of 1.example.pem');
  });
});
