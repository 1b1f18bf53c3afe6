import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { getIntrospectionQuery, getOperationAST, Kind, parse } from 'graphql';
import { z } from 'zod';
import { costOf } from '../../src/http/graphql-cost.ts';
import { exampleTabs } from '../../src/http/graphiql-examples.ts';
import { limits } from '../../src/http/graphql-limits.ts';
import { HeldRecords } from '../../src/schema/limits/held-records.ts';
import { ResultLimits, resultLimits } from '../../src/schema/limits/result-limits.ts';
import { schema } from '../../src/schema/schema.ts';
import { slotLimits } from '../../src/schema/limits/operation-slots.ts';
import { TimeSlices } from '../../src/schema/limits/time-slices.ts';
import { testApps } from '../support/http.ts';
import { seedClients, seedTunnels } from '../support/seed.ts';

/** The cost of the operation with this name, or of the only one. */
function cost(text: string, variables: Readonly<Record<string, unknown>> = {}, name?: string): number {
  const document = parse(text);
  const operation = getOperationAST(document, name);
  if (!operation) throw new Error(`no operation ${name}`);
  return costOf(schema, document, operation, variables, Number.POSITIVE_INFINITY);
}

describe('what an operation costs', () => {
  test('is the number of values that it may return: what is below a list counts as often as its limit', () => {
    expect(cost('{ clients { total } }')).toBe(2);
    expect(cost('{ clients(limit: 20) { total rows { id remark } } }')).toBe(1 + 1 + 1 + 20 * 2);
    expect(cost('{ clients { rows { id } } }')).toBe(2 + 50);
    expect(cost('{ clients(limit: 10) { rows { tunnels(limit: 7) { rows { id } } } } }')).toBe(2 + 10 * (2 + 7));
    expect(cost('{ client(id: 1) { tunnels(limit: 3) { rows { port client { id } } } } }')).toBe(1 + 2 + 3 * 3);
    expect(cost('{ tunnels(limit: 200) { rows { targets } } }')).toBe(2 + 200);
    expect(cost('{ traffic(resource: CLIENT, id: 1, step: MINUTE, from: "2026-01-01T00:00:00Z") { at } }')).toBe(1 + 2000);
    expect(cost('subscription { connectionsEverySecond(clientId: 1) { rows { id } } }')).toBe(2 + 200);
  });

  test('takes limits from variables and their default values, and no limit for a way out', () => {
    const text = 'query ($limit: Int = 4) { clients(limit: $limit) { rows { id } } }';
    expect(cost(text, { limit: 30 })).toBe(2 + 30);
    expect(cost(text)).toBe(2 + 4);
    expect(cost(text, { limit: null })).toBe(2 + 50);
    expect(cost('query ($limit: Int) { clients(limit: $limit) { rows { id } } }')).toBe(2 + 50);
    // Variables with the names of what every object has.
    for (const name of ['constructor', '__proto__', 'toString']) expect(cost(text.replaceAll('$limit', `$${name}`))).toBe(2 + 4);
    for (const limit of [-5, 0]) expect(cost(text, { limit })).toBe(2 + 1);
    // The list itself refuses it.
    expect(cost(text, { limit: 1e9 })).toBe(2 + 200);
  });

  test('counts fragments wherever they are used, and once within a selection', () => {
    expect(cost('{ a: clients(limit: 5) { ...F } b: clients(limit: 7) { ...F ... on ClientPage { total } } } fragment F on ClientPage { rows { id } }')).toBe(
      1 + 1 + 5 + 1 + 1 + 7 + 1,
    );
    expect(cost('{ clients(limit: 5) { ...F ...F } } fragment F on ClientPage { rows { id } }')).toBe(2 + 5);
    // Each uses the next one twice: 2^40 ways.
    const bomb = Array.from({ length: 40 }, (_, n) => `fragment F${n} on Client { ${n === 39 ? 'id' : `...F${n + 1} ...F${n + 1}`} }`).join(' ');
    expect(cost(`{ client(id: 1) { ...F0 } } ${bomb}`)).toBe(2);
  });

  test('a search counts as 2500, unless it is blank', () => {
    expect(cost('{ tunnels(search: "x", limit: 1) { total } }')).toBe(2 + 2500);
    expect(cost('query ($s: String) { tunnels(search: $s, limit: 1) { total } }', { s: 'x' })).toBe(2 + 2500);
    expect(cost('query ($s: String) { tunnels(search: $s, limit: 1) { total } }', { s: '' })).toBe(2);
  });

  test('a filter by what no index answers counts as a search, by one that an index answers as nothing', () => {
    expect(cost('{ tunnels(filter: { connected: false }, limit: 1) { total } }')).toBe(2 + 2500);
    expect(cost('{ tunnels(filter: { clientId: 1, mode: TCP, connected: null }, limit: 1) { total } }')).toBe(2);
    expect(cost('{ tunnels(filter: { connected: true }, search: "x", limit: 1) { total } }')).toBe(2 + 2500);
    const whole = 'query ($f: HostFilter = { scheme: HTTP }) { hosts(filter: $f, limit: 1) { total } }';
    expect([cost(whole), cost(whole, { f: null }), cost(whole, { f: { clientId: 1 } }), cost(whole, { f: { certificateDaysRemainingBelow: 9 } })]).toEqual([
      2502,
      2,
      2,
      2502,
    ]);
    const part = 'query ($c: Boolean, $d: Boolean = true) { clients(filter: { connected: $c, enabled: $d }, limit: 1) { total } }';
    expect([cost(part), cost(part, { d: null }), cost(part, { c: false, d: null })]).toEqual([2502, 2, 2502]);
  });
});

describe('what fits in', () => {
  test('introspection in its longest form, and the examples of the editor', () => {
    expect(
      cost(getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true, oneOf: true })),
    ).toBeLessThanOrEqual(limits.cost);
    for (const { query } of exampleTabs) expect(cost(query)).toBeLessThanOrEqual(limits.cost);
  });

  test('every operation of the legacy API, with the largest page', () => {
    const directory = path.resolve(import.meta.dirname, '../../src/legacy/operations');
    const text = readdirSync(directory).map((file) => readFileSync(path.join(directory, file), 'utf8')).join('\n');
    const names = parse(text).definitions.flatMap((definition) => definition.kind === Kind.OPERATION_DEFINITION ? [definition.name?.value] : []);
    expect(names.length).toBeGreaterThan(30);
    for (const name of names) expect({ name, cost: cost(text, { limit: 200 }, name) }).toEqual({ name, cost: expect.any(Number) });
    expect(Math.max(...names.map((name) => cost(text, { limit: 200 }, name)))).toBeLessThanOrEqual(limits.cost);
  });
});

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
    expect(await response.json()).toEqual({
      errors: [{ message: `the operation could return more than ${limits.cost} values`, extensions: { code: 'OPERATION_TOO_COSTLY', most: limits.cost } }],
    });
    expect(await app.api.services.store.db.client.count()).toBe(0);
  });

  test('a result with more characters than one may have, whichever fields they are of', async () => {
    const app = await start();
    const [client = 0] = await seedClients(app.api.services.store, 1);
    await seedTunnels(app.api.services.store, client, 200, () => ({ target: '1\n'.repeat(8000), localPath: 'p'.repeat(4000) }));
    for (const fields of ['targets a: targets', Array.from({ length: 25 }, (_, n) => `a${n}: localPath`).join(' ')]) {
      const { errors, data } = answer.parse(await (await app.graphql({ query: `{ tunnels(limit: 200) { rows { ${fields} } } }` })).json());
      expect({ fields, data, errors }).toMatchObject({
        fields,
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
    for (const query of [`{ ${pages(28)} }`, `{ user(id: ${id}) { ${pages(28)} } }`]) {
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
  }, 120_000);

  test('more rows of lists in rows than a result may have, which are not read first', async () => {
    const app = await start();
    const { store } = app.api.services;
    const clients = await seedClients(store, 110);
    for (const id of clients) await seedTunnels(store, id, 190);
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
  }, 120_000);

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
