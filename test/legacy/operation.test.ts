import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { expect, jest, test } from '@jest/globals';
import { execute, GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLSchema, GraphQLString, parse } from 'graphql';
import * as operations from '../../src/legacy/generated/graphql.ts';
import { compileOperation } from '../../src/legacy/operation.ts';
import { createContext } from '../../src/schema/context.ts';
import { routes } from '../../src/legacy/routes.ts';
import { schema } from '../../src/schema/schema.ts';
import { testDatabases } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';
import { seedClients, seedHosts, seedTunnels, seedUsers } from '../support/seed.ts';

const databases = testDatabases('sqlite');
const document = (source: string) => parse(source) as TypedDocumentNode<object, Record<string, unknown>>;

const reads: ReadonlyArray<readonly [string, TypedDocumentNode<object, Record<string, unknown>>, Record<string, unknown>]> = [
  ['ListClients', operations.ListClientsDocument, { limit: 3, search: 'office', filter: { unassigned: true }, sort: { field: 'REMARK', direction: 'DESC' } }],
  ['GetClient', operations.GetClientDocument, { id: 1 }],
  ['GetClient of none', operations.GetClientDocument, { id: 99 }],
  ['ListTunnels', operations.ListTunnelsDocument, { offset: 1 }],
  ['GetTunnel', operations.GetTunnelDocument, { id: 1 }],
  ['ListHosts', operations.ListHostsDocument, { limit: null }],
  ['GetHost', operations.GetHostDocument, { id: 1 }],
  ['ListUsers', operations.ListUsersDocument, {}],
  ['GetGlobal', operations.GetGlobalDocument, {}],
  ['ApiKeyStatus', operations.ApiKeyStatusDocument, {}],
].map(([name, operation, variables]) =>
  [name, operation, variables] as unknown as [string, TypedDocumentNode<object, Record<string, unknown>>, Record<string, unknown>]
);

test.each(routes.flatMap(({ path, operation }) => operation === undefined ? [] : [[path, operation] as const]))(
  'the operation of %s compiles',
  (_, operation) => {
    expect(compileOperation(schema, operation as TypedDocumentNode<object, object>)).toBeInstanceOf(Function);
  },
);

test.each(reads)('the compiled %s answers what GraphQL answers', async (_, operation, variables) => {
  const { services } = await openTestSchema(databases);
  const { store } = services;
  await seedUsers(store, 2);
  const [client = 0] = await seedClients(
    store,
    4,
    (n) => ({ userId: n % 2 === 0 ? 1 : null, expiresAt: n === 3 ? new Date(0) : null, blackIpList: '192.0.2.1\n192.0.2.2', inletBytes: 2n ** 40n }),
  );
  await seedTunnels(store, client, 3, () => ({ target: '127.0.0.1:1\n127.0.0.1:2' }));
  await seedHosts(store, client, 2);
  const context = () => createContext(services, { kind: 'admin' });
  const wanted = await execute({ schema, document: operation, contextValue: context(), variableValues: variables });
  const settled = await compileOperation(schema, operation)(context(), variables).then((data) => ({ data }), (error: unknown) => ({ error }));
  if (wanted.errors?.[0]) expect(settled).toMatchObject({ error: { message: wanted.errors[0].message } });
  else expect(JSON.parse(JSON.stringify(settled))).toEqual(JSON.parse(JSON.stringify({ data: wanted.data })));
});

const range = { offset: { type: GraphQLInt, defaultValue: 5 }, limit: { type: GraphQLInt } };
const given = {
  type: GraphQLString,
  resolve: (_root: unknown, args: object) => Object.entries(args).map((argument) => JSON.stringify(argument)).toSorted().join(' '),
};
const echo = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      given: { ...given, args: range },
      withId: { ...given, args: { ...range, id: { type: new GraphQLNonNull(GraphQLInt), defaultValue: 1 } } },
      texts: { type: new GraphQLList(GraphQLString), resolve: () => ['a', 1, null, true] },
      noText: { type: new GraphQLList(new GraphQLNonNull(GraphQLString)), resolve: () => ['a', null] },
      nothing: { type: GraphQLString, resolve: () => undefined },
      noList: { type: new GraphQLList(GraphQLString), resolve: () => 'abc' },
    },
  }),
});

test.each([
  ['query ($most: Int, $from: Int = 7) { given(limit: $most, offset: $from) }', [{}, { most: 2 }, { most: null, from: null }]],
  ['query ($limit: Int, $offset: Int) { given(limit: $offset, offset: $limit) }', [{}, { limit: 2 }, { offset: 3 }, { limit: null, offset: 1 }]],
  ['query ($limit: Int, $id: Int = 3) { withId(limit: $limit, id: $id) }', [{}, { limit: 2, id: 4 }, { id: null }]],
  ['query ($limit: Int) { given(limit: $limit, offset: 8) other: given(limit: 9) default: given }', [{}, { limit: 2 }]],
  ['{ texts }', [{}]],
  ['{ noText }', [{}]],
  ['{ noList }', [{}]],
  ['{ nothing }', [{}]],
])('arguments, lists of texts and absent values in the compiled %s are those of GraphQL', async (source, calls) => {
  const run = compileOperation(echo, document(source));
  for (const variableValues of calls) {
    const { data, errors } = await execute({ schema: echo, document: parse(source), variableValues });
    const failed = errors !== undefined;
    expect([variableValues, await run({}, variableValues).catch(() => 'failed')]).toEqual([variableValues, failed ? 'failed' : { ...data }]);
  }
});

test('a compiled operation fails with what a field failed with, when the others have ended', async () => {
  const { services } = await openTestSchema(databases);
  const run = compileOperation(schema, document('{ clients(limit: 1000) { total } server { bridgePort } }'));
  await expect(run(createContext(services, { kind: 'admin' }), {})).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  const refused = compileOperation(schema, document('{ users { total } }'));
  await expect(refused(createContext(services, { kind: 'anonymous', address: '' }), {})).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});

/** An operation whose fields end so: by a promise's rejection, by a throw, or with a list of promises that an invalid item interrupts. */
function failing(source: string, ended: string[]) {
  const late = (message: string) =>
    new Promise<never>((_, reject) =>
      setImmediate(() => {
        ended.push(message);
        reject(new Error(message));
      })
    );
  const now = () => {
    throw new Error('forbidden');
  };
  const item = new GraphQLObjectType({
    name: 'Item',
    fields: { late: { type: GraphQLInt, resolve: () => late('late') }, now: { type: GraphQLInt, resolve: now } },
  });
  const query = new GraphQLObjectType({
    name: 'Query',
    fields: {
      late: { type: GraphQLInt, resolve: () => late('late') },
      now: { type: GraphQLInt, resolve: now },
      invalid: { type: GraphQLInt, resolve: () => 'no number' },
      list: { type: new GraphQLList(GraphQLInt), resolve: () => [late('first'), 'no number', late('last')] },
      item: { type: item, resolve: () => Promise.resolve({}) },
      items: { type: new GraphQLList(item), resolve: () => [{}, {}] },
    },
  });
  return compileOperation(new GraphQLSchema({ query }), document(source))({}, {});
}

test.each([
  ['a field that throws at once', '{ late now }', 'forbidden', ['late']],
  ['an invalid value', '{ late invalid }', /Int cannot represent/, ['late']],
  ['an invalid item of a list', '{ list }', /Int cannot represent/, ['first', 'last']],
  ['a field of an object that came later', '{ late item { late now } }', 'forbidden', ['late', 'late']],
  ['a field of an item', '{ items { late now } }', 'forbidden', ['late']],
])('a compiled operation with %s fails when what had begun has ended, whose rejections are handled', async (_, source, message, wanted) => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  try {
    const ended: string[] = [];
    await expect(failing(source, ended)).rejects.toThrow(message);
    expect(ended).toEqual(wanted);
    // Rejections are reported before the next turn begins.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});

test('the items of a list stay in their order, also when some of them come later', async () => {
  const later = (value: number) => new Promise<number>((resolve) => setImmediate(() => resolve(value)));
  const query = new GraphQLObjectType({
    name: 'Query',
    fields: { list: { type: new GraphQLList(GraphQLInt), resolve: () => [later(1), 2, null, later(4), Promise.resolve(null), 6] } },
  });
  expect(await compileOperation(new GraphQLSchema({ query }), document('{ list }'))({}, {})).toEqual({ list: [1, 2, null, 4, null, 6] });
});

test('a compiled operation that has failed resolves nothing of what comes later', async () => {
  const resolved = jest.fn();
  const item = new GraphQLObjectType({ name: 'Item', fields: { value: { type: GraphQLInt, resolve: resolved } } });
  const query = new GraphQLObjectType({
    name: 'Query',
    fields: {
      item: { type: item, resolve: () => new Promise((resolve) => setImmediate(resolve, {})) },
      refused: { type: GraphQLInt, resolve: () => Promise.reject(new Error('forbidden')) },
    },
  });
  await expect(compileOperation(new GraphQLSchema({ query }), document('{ item { value } refused }'))({}, {})).rejects.toThrow('forbidden');
  expect(resolved).not.toHaveBeenCalled();
});

test('variables of another type are refused', async () => {
  const { services } = await openTestSchema(databases);
  const run = compileOperation(schema, document('query ($id: ID!) { client(id: $id) { id } }'));
  for (const variables of [{}, { id: 1.5 }, { id: null }, { id: undefined }]) {
    await expect(run(createContext(services, { kind: 'admin' }), variables)).rejects.toThrow(/\$id/);
  }
});

test.each([
  ['a field that there is not', '{ nothing }', /does not fit the schema/],
  ['a directive', '{ clients { total @include(if: true) } }', /directives/],
  ['several mutations', 'mutation { a: deleteClient(id: 1) b: deleteClient(id: 2) }', /several mutations/],
])('an operation with %s is refused when it is compiled', (_, source, message) => {
  expect(() => compileOperation(schema, document(source))).toThrow(message);
});

test('fragments without a name do not compile', () => {
  expect(() => compileOperation(schema, document('{ server { ... on Server { version } } }'))).toThrow('a fragment is for another type than Server');
});
