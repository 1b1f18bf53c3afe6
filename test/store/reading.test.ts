import { expect, test } from '@jest/globals';
import { Prisma } from '../../src/store/generated/sqlite/client.ts';
import type { Context } from '../../src/schema/context.ts';
import type { Store } from '../../src/store/store.ts';

type Db = Store['db'];

/** The lint fails when `db` has anything else than these: what would write is no part of its type. */
const models: Readonly<Record<keyof Db, true>> = {
  user: true,
  client: true,
  tunnel: true,
  host: true,
  platformDomain: true,
  globalSettings: true,
  total: true,
  searchSegment: true,
  importedRecord: true,
  auditEntry: true,
  loggedCommit: true,
  node: true,
  sharedFile: true,
  counter: true,
  trafficSample: true,
  refusalSample: true,
  session: true,
  apiToken: true,
  enrolment: true,
};
const methods: Readonly<Record<{ [Model in keyof Db]: keyof Db[Model] }[keyof Db], true>> = {
  findUnique: true,
  findUniqueOrThrow: true,
  findFirst: true,
  findFirstOrThrow: true,
  findMany: true,
  count: true,
  aggregate: true,
  groupBy: true,
};

/** The same for the store of resolvers: it lacks these functions. */
const lacking: Readonly<Record<Exclude<keyof Store, keyof Context['store']>, true>> = {
  transaction: true,
  follower: true,
  node: true,
  leads: true,
  tryWrite: true,
  saveCounters: true,
  saveRefusals: true,
  forgetRunningState: true,
  forgetDeclared: true,
  prune: true,
  close: true,
};

test('outside a transaction the program has every model to read from, and nothing to write with', () => {
  expect(Object.keys(models).toSorted()).toEqual(Object.keys(Prisma.ModelName).map((name) => `${name.charAt(0).toLowerCase()}${name.slice(1)}`).toSorted());
  expect(Object.keys(lacking)).toContain('transaction');
  expect(Object.keys(methods).filter((name) => !/^(find|count$|aggregate$|groupBy$)/.test(name))).toEqual([]);
});
