import { describe, expect, jest, test } from '@jest/globals';
import { getIntrospectionQuery } from 'graphql';
import { z } from 'zod';
import { limits } from '../../src/http/graphql-limits.ts';
import { HeldRecords } from '../../src/schema/limits/held-records.ts';
import { ResultLimits, resultLimits } from '../../src/schema/limits/result-limits.ts';
import { slotLimits } from '../../src/schema/limits/operation-slots.ts';
import { TimeSlices } from '../../src/schema/limits/time-slices.ts';
import { isShort } from '../support/endurance.ts';
import { testApps } from '../support/http.ts';
import { seedClients, seedTunnels } from '../support/seed.ts';

const start = testApps();
const answer = z.object({
  data: z.unknown().optional(),
  errors: z.array(z.object({ message: z.string(), extensions: z.object({ code: z.string() }) })).default([]),
});

describe('what is refused', () => {
  test.each([
    ['tunnels of clients of tunnels', '{ tunnels { rows { client { tunnels { rows { client { tunnels { rows { id } } } } } } } } }'],
    ['29 searches', `{ ${Array.from({ length: 29 }, (_, n) => `a${n}: tunnels(search: "x", limit: 1) { total }`).join(' ')} }`],
    [
      'a wide list of everything',
      `{ tunnels(limit: 200) { rows { ${
        Array.from({ length: 28 }, (_, n) => `a${n}: client { id remark blocklist runtime { connected address } }`).join(' ')
      } } } }`,
    ],
    [
      'introspection with aliases',
      `{ __schema { types { ${
        Array.from({ length: 25 }, (_, n) => `a${n}: fields { name type { name fields { name description args { name } } } }`).join(' ')
      } } } }`,
    ],
    ['what a mutation returns', 'mutation { createClient(input: {}) { tunnels(limit: 200) { rows { client { tunnels(limit: 200) { rows { id } } } } } } }'],
  ])('%s, before it runs', async (_name, query) => {
    const app = await start();
    const response = await app.graphql({ query });
    expect([response.status, await response.json()]).toEqual([200, {
      errors: [{ message: `the operation could return more than ${limits.cost} values`, extensions: { code: 'OPERATION_TOO_COSTLY', most: limits.cost } }],
    }]);
    expect(await app.api.services.store.db.client.count()).toBe(0);
  });

  test('a result with more characters than one may have, whichever fields they are of', async () => {
    const app = await start();
    const [client = 0] = await seedClients(app.api.services.store, 1);
    await seedTunnels(app.api.services.store, client, 200, () => ({ target: '1\n'.repeat(8000), localPath: 'p'.repeat(4000) }));
    for (const fields of ['targets a: targets', Array.from({ length: 25 }, (_, n) => `a${n}: localPath`).join(' ')]) {
      const response = await app.graphql({ query: `{ tunnels(limit: 200) { rows { ${fields} } } }` });
      const { errors, data } = answer.parse(await response.json());
      expect({ fields, status: response.status, data, errors }).toMatchObject({
        fields,
        status: 200,
        errors: [{ message: `the result has more than ${resultLimits.characters} characters`, extensions: { code: 'RESULT_TOO_LARGE' } }],
      });
      expect(data ?? null).toBeNull();
    }
    const { errors } = answer.parse(await (await app.graphql({ query: '{ tunnels(limit: 20) { rows { targets localPath } } }' })).json());
    expect(errors).toEqual([]);
  });

  test('more records than an operation may read, whichever fields it asks for, a page at a time', async () => {
    const app = await start();
    const { store } = app.api.services;
    const { id } = await store.transaction((tx) => tx.user.create({ data: { username: 'user', passwordHash: '', createdAt: new Date() } }));
    await seedClients(store, 150, () => ({ userId: id, blackIpList: '192.0.2.1\n'.repeat(6500), ipWhiteList: '192.0.2.1\n'.repeat(6500) }));
    const pages = (count: number) => Array.from({ length: count }, (_, n) => `a${n}: clients(limit: ${200 - n}) { rows { id } }`).join(' ');
    let [read, together, most] = [0, 0, 0];
    const spies = (['clientPage', 'childrenOf'] as const).map((name) => {
      const original = store[name].bind(store) as (...args: readonly unknown[]) => Promise<unknown>;
      return jest.spyOn(store, name).mockImplementation(
        (async (...args: readonly unknown[]) => {
          read++;
          most = Math.max(most, ++together);
          try {
            return await original(...args);
          } finally {
            together--;
          }
        }) as never,
      );
    });
    for (const query of [`{ user(id: ${id}) { ${pages(28)} } }`, ...isShort ? [] : [`{ ${pages(28)} }`]]) {
      [read, most] = [0, 0];
      const { errors, data } = answer.parse(await (await app.graphql({ query })).json());
      expect({ data: data ?? null, errors, most }).toMatchObject({
        data: null,
        errors: [{ message: `the result has more than ${resultLimits.read} characters in its records`, extensions: { code: 'RESULT_TOO_LARGE' } }],
        most: 1,
      });
      expect(read).toBe(2);
    }
    expect(answer.parse(await (await app.graphql({ query: `{ ${pages(1)} }` })).json()).errors).toEqual([]);
    for (const spy of spies) spy.mockRestore();
  });

  if (!isShort) {
    test('more rows of lists in rows than a result may have, which are not read first', async () => {
      const app = await start();
      const { store } = app.api.services;
      const clients = await seedClients(store, 110);
      for (let at = 0; at < clients.length; at += 10) await seedTunnels(store, 0, 1900, (n) => ({ clientId: clients[at + Math.trunc((n - 1) / 190)] }));
      const children = jest.spyOn(store, 'childrenOf');
      const { errors, data } = answer.parse(
        await (await app.graphql({ query: '{ clients(limit: 110) { rows { tunnels(limit: 190) { rows { id } } } } }' })).json(),
      );
      expect({ data: data ?? null, errors }).toMatchObject({
        data: null,
        errors: [{ message: `the result has more than ${resultLimits.rows} rows`, extensions: { code: 'RESULT_TOO_LARGE' } }],
      });
      const read = await Promise.all(children.mock.results.map(({ value }) => value));
      expect(read.flat()).toHaveLength(resultLimits.rows + 1 - clients.length);
      children.mockRestore();
    });
  }

  test('and what it has read by then is not kept', () => {
    const limits = new ResultLimits(new TimeSlices(), 'user 1', new HeldRecords().of('user 1'));
    limits.read([{ text: 'x'.repeat(resultLimits.read + 1) }]);
    const waiting = [limits.records([]), limits.records([]), limits.begin(), limits.begin()];
    // A promise holds what waits for it: one that they shared would hold all that was ever refused.
    expect(new Set(waiting).size).toBe(waiting.length);
  });

  test('operations of one caller beyond those that run and wait, with 429; others are not affected', async () => {
    const app = await start();
    const { slots } = app.api.services;
    const ends = await Promise.all(Array.from({ length: slotLimits.running }, () => slots.take('admin')));
    const waiting = Array.from({ length: slotLimits.waiting }, () => slots.take('admin'));
    const refused = await app.graphql({ query: '{ server { version } }' });
    expect([refused.status, await refused.json()]).toEqual([429, {
      errors: [{ message: 'too many operations at once', extensions: { code: 'TOO_MANY_OPERATIONS' } }],
    }]);
    (await slots.take('user 1'))();
    for (const end of [...ends, ...ends]) end();
    for (const taken of waiting) (await taken)();
    expect((await app.graphql({ query: '{ server { version } }' })).status).toBe(200);
  });
});

test('an introspection is computed in time slices, as other lists are', async () => {
  const app = await start();
  const slices = jest.spyOn(app.api.services.timeSlices, 'next');
  const { data, errors } = answer.parse(await (await app.graphql({ query: getIntrospectionQuery() })).json());
  expect(errors).toEqual([]);
  const { __schema: { types } } = z.object({ __schema: z.object({ types: z.array(z.unknown()) }) }).parse(data);
  expect(slices.mock.calls.length).toBeGreaterThan(types.length);
});
