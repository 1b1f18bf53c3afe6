import { beforeAll, expect, jest, test } from '@jest/globals';
import { onlyAdds, readMigrations } from '../../src/store/migrations.ts';
import { NodeOutdatedError, NodeReplacedError, Nodes } from '../../src/store/nodes.ts';
import { eachDialect, testDatabases } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { describeWith } from '../support/programs.ts';
import type { TestStore } from '../support/test-store.ts';

const shown = { agents: 3, connections: 4, load: 0.25, lagMs: 5 };
const figures = { ...shown, stopping: false, unreached: [] };
const identity = (name: string) => ({ name, address: `${name}.example:8024`, linkPort: 8025, tlsPort: 8026, version: '1.2.3' });

eachDialect('a node', (databases) => {
  test('is listed with what it last reported', async () => {
    const { dialect, db, transaction } = await databases.openEmpty();
    const node = new Nodes({ dialect, db, transaction, migrations: (await readMigrations(dialect)).map(({ name }) => name) });
    await node.report(figures); // before it has joined: nothing happens
    expect(await node.all()).toEqual([]);
    await node.join(identity('one'));
    await node.report(figures);
    expect(await node.all()).toEqual([{
      ...identity('one'),
      ...shown,
      alive: true,
      draining: false,
      unreachableFrom: [],
      stopped: false,
      startedAt: expect.any(Date),
      seenAt: expect.any(Date),
    }]);
    const [state] = await node.all();
    expect(Math.abs(Date.now() - Number(state?.startedAt))).toBeLessThan(60_000);
    for (const stopping of [true, false]) {
      await node.report({ ...figures, stopping });
      expect(await node.all()).toMatchObject([{ draining: true }]);
    }
  });

  test('has the clock of the database', async () => {
    const { dialect, db, transaction } = await databases.openEmpty();
    const now = await new Nodes({ dialect, db, transaction, migrations: [] }).clock();
    expect(Math.abs(now() - Date.now())).toBeLessThan(60_000);
    const before = now();
    expect(await eventually(now, (later) => later > before)).toBeLessThan(before + 60_000);
  });
});

describeWith('initdb', 'nodes on PostgreSQL', () => {
  const databases = testDatabases('postgresql');
  let known: readonly string[];
  beforeAll(async () => {
    known = (await readMigrations('postgresql')).map(({ name }) => name);
  });
  const nodeOf = ({ dialect, db, transaction }: TestStore, migrations = known) => new Nodes({ dialect, db, transaction, migrations });

  test('see each other; one that has ended, or has not reported for ten seconds, is not alive', async () => {
    const store = await databases.openEmpty();
    const [one, two, three] = [nodeOf(store), nodeOf(store), nodeOf(store)];
    await one.join(identity('one'));
    await two.join(identity('two'));
    await three.join(identity('three'));
    await two.leave();
    await store.db.$executeRaw`UPDATE "Node" SET "seenAt" = "seenAt" - interval '11 s' WHERE name = 'three'`;
    const alive = async () => (await one.all()).map(({ name, alive }) => [name, alive]);
    expect(await alive()).toEqual([['one', true], ['three', false], ['two', false]]);
    await three.report(figures);
    expect(await alive()).toEqual([['one', true], ['three', true], ['two', false]]);
  });

  test('have the clock of the database again after their machine has slept', async () => {
    const node = nodeOf(await databases.openEmpty());
    await node.join(identity('one'));
    const now = await node.clock();
    const monotonic = performance.now.bind(performance);
    const asleep = jest.spyOn(performance, 'now').mockImplementation(() => monotonic() - 3_600_000);
    try {
      expect(Date.now() - now()).toBeGreaterThan(3_000_000);
      await node.report(figures);
      expect(Math.abs(Date.now() - now())).toBeLessThan(600_000);
    } finally {
      asleep.mockRestore();
    }
    // It does not go back when it turns out that the machine did not sleep.
    const before = now();
    await node.report(figures);
    expect(now()).toBeGreaterThanOrEqual(before);
  });

  test('say which others they cannot reach, as long as both run', async () => {
    const store = await databases.openEmpty();
    const [one, two] = [nodeOf(store), nodeOf(store)];
    await one.join(identity('one'));
    await two.join(identity('two'));
    const since = new Date();
    const unreached = [{ name: 'two', since: since.getTime(), problem: 'connect ECONNREFUSED' }, { name: 'nobody', since: 1, problem: '' }];
    await one.report({ ...figures, unreached });
    await two.report(figures);
    const unreachable = async () => (await two.all()).map(({ unreachableFrom }) => unreachableFrom);
    expect(await unreachable()).toEqual([[], [{ node: 'one', since, problem: 'connect ECONNREFUSED' }]]);
    for (const name of ['one', 'two']) {
      await store.db.node.update({ where: { name }, data: { stopped: true } });
      expect(await unreachable()).toEqual([[], []]);
      await store.db.node.update({ where: { name }, data: { stopped: false } });
    }
  });

  test('with one name: the one that was started later has it, the other one ends', async () => {
    const store = await databases.openEmpty();
    const [older, younger] = [nodeOf(store), nodeOf(store)];
    await older.join(identity('one'));
    await younger.join({ ...identity('one'), version: '2.0.0' });
    await expect(older.report(figures)).rejects.toThrow(NodeReplacedError);
    await younger.report(figures);
    await older.leave();
    expect(await younger.all()).toMatchObject([{ version: '2.0.0', alive: true, agents: 3 }]);
  });

  test('take their rows back when a database was restored that lacks them, or has one of an earlier start', async () => {
    const store = await databases.openEmpty();
    const node = nodeOf(store);
    await node.join(identity('one'));
    const [before] = await node.all();
    await store.db.node.deleteMany();
    await node.report(figures);
    await store.db.$executeRaw`UPDATE "Node" SET incarnation = 'earlier', "startedAt" = "startedAt" - interval '1 d', agents = 99`;
    await node.report(figures);
    await node.report(figures);
    expect(await node.all()).toEqual([{ ...before, ...shown, alive: true, seenAt: expect.any(Date) }]);
  });

  test('drain when their row says so, or when they stop, until they are started again', async () => {
    const store = await databases.openEmpty();
    const node = nodeOf(store);
    await node.join(identity('one'));
    await store.db.node.updateMany({ data: { draining: true } });
    await node.report(figures);
    expect(node.own?.draining).toBe(true);
    await store.db.node.deleteMany(); // a database was restored that lacks it
    await node.report(figures);
    expect(await node.all()).toMatchObject([{ draining: true }]);
    await store.db.node.updateMany({ data: { draining: false } });
    await node.report(figures);
    expect(node.own?.draining).toBe(false);
    await node.report({ ...figures, stopping: true });
    expect(await node.all()).toMatchObject([{ draining: true }]);
    await nodeOf(store).join(identity('one'));
    expect(await node.all()).toMatchObject([{ draining: false }]);
  });

  test('that an upgrade has left behind end, unless its migrations only add', async () => {
    const store = await databases.openEmpty();
    const names = known.filter((name) => !onlyAdds(name));
    const older = nodeOf(store, names);
    await older.join(identity('one'));
    await store.db.node.deleteMany(); // as an upgrade does while a node is frozen
    await older.report(figures);
    const later = names.pop();
    await store.db.node.deleteMany();
    await store.db.$executeRaw`UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = ${later}`;
    await older.report(figures);
    await store.db.$executeRaw`UPDATE _prisma_migrations SET rolled_back_at = NULL`;
    await store.db.node.deleteMany();
    await expect(older.report(figures)).rejects.toThrow(NodeOutdatedError);
    await expect(nodeOf(store, names).join(identity('two'))).rejects.toThrow(NodeOutdatedError);
  });

  test('that have not reported for a week are forgotten', async () => {
    const store = await databases.openEmpty();
    await nodeOf(store).join(identity('one'));
    await nodeOf(store).join(identity('two'));
    await store.db.$executeRaw`UPDATE "Node" SET "seenAt" = "seenAt" - CASE name WHEN 'one' THEN 8 ELSE 6 END * interval '1 d'`;
    await store.prune({ audit: 1, traffic: { minute: 1, hour: 1, day: 1 } });
    expect((await store.db.node.findMany()).map(({ name }) => name)).toEqual(['two']);
  });

  test('that are away for at most an hour find what was committed since, and others always the last commit', async () => {
    const store = await databases.openEmpty();
    const { db } = store;
    const { seq, token: first } = await db.loggedCommit.findFirstOrThrow();
    const commits = [61, 59].map((minutes, index) => ({ seq: seq + BigInt(index + 1), token: `${minutes}`, at: new Date(Date.now() - minutes * 60_000) }));
    await db.loggedCommit.createMany({ data: commits.map((commit) => ({ ...commit, changes: '[]', firstEntry: 0, lastEntry: 0 })) });
    const left = async () => {
      await store.prune({ audit: 1, traffic: { minute: 1, hour: 1, day: 1 } });
      return (await db.loggedCommit.findMany({ orderBy: { seq: 'asc' } })).map(({ token }) => token);
    };
    expect(await left()).toEqual([first, '59']);
    await db.loggedCommit.updateMany({ data: { at: new Date(0) } });
    expect(await left()).toEqual(['59']);
  });
});
