import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { getIntrospectionQuery, getOperationAST, Kind, parse } from 'graphql';
import { costOf } from '../../src/http/graphql-cost.ts';
import { exampleTabs } from '../../src/panel/graphiql/examples.ts';
import { limits } from '../../src/http/graphql-limits.ts';
import { schema } from '../../src/schema/schema.ts';

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

  test('introspection: a type name is one value, and lists have their average length', () => {
    expect(cost('{ __typename clients { __typename } }')).toBe(3);
    expect(cost('{ __type(name: "Client") { name fields { name args { name } } } }')).toBe(1 + 1 + 1 + 4 * (1 + 1 + 0.5));
    expect(cost('{ __schema { types { name } directives { name } } }')).toBe(1 + (1 + 100) + (1 + 6));
    const all = '{ __schema { types { inputFields { name } enumValues { name } interfaces { name } possibleTypes { name } } } }';
    expect(cost(all)).toBe(1 + 1 + 100 * (4 + 1 + 2 + 0.5 + 0.5));
    // Only the query type has them.
    expect(cost('mutation { __type(name: "Client") { name } __schema { types { name } } }')).toBe(2);
  });

  test('a search counts as 2500, unless it is blank', () => {
    expect(cost('{ tunnels(search: "x", limit: 1) { total } }')).toBe(2 + 2500);
    expect(cost('query ($s: String) { tunnels(search: $s, limit: 1) { total } }', { s: 'x' })).toBe(2 + 2500);
    expect(cost('query ($s: String) { tunnels(search: $s, limit: 1) { total } }', { s: '' })).toBe(2);
  });

  test('a search of all kinds of records is one for each kind that is asked for, with as many of it as the limit says', () => {
    expect(cost('{ search(text: "x", limit: 10) { clients { id } tunnels { id } hosts { id } users { id } } }')).toBe(1 + 4 * (1 + 2500 + 10));
  });

  test('is not counted further when it is too much', () => {
    const document = parse(`{ ${Array.from({ length: 20 }, (_, n) => `a${n}: clients { total }`).join(' ')} }`);
    const operation = getOperationAST(document);
    if (!operation) throw new Error('no operation');
    expect(costOf(schema, document, operation, {}, 5)).toBe(6);
  });

  test('a filter by what no index answers counts as a search, by one that an index answers as nothing', () => {
    expect(cost('{ tunnels(filter: { connected: false }, limit: 1) { total } }')).toBe(2 + 2500);
    expect(cost('{ tunnels(filter: { clientId: 1, mode: TCP, connected: null }, limit: 1) { total } }')).toBe(2);
    expect(cost('{ tunnels(filter: { connected: true }, search: "x", limit: 1) { total } }')).toBe(2 + 2500);
    const whole = 'query ($f: HostFilter = { scheme: HTTP }) { hosts(filter: $f, limit: 1) { total } }';
    expect([cost(whole), cost(whole, { f: null }), cost(whole, { f: { clientId: 1, ownerId: 2 } }), cost(whole, { f: { certificateDaysRemainingBelow: 9 } })])
      .toEqual([
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
