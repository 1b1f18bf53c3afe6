import { expect, test } from '@jest/globals';
import { costOf } from '../../src/http/graphql-cost.ts';
import { schema } from '../../src/schema/schema.ts';
import { type DocumentNode, type OperationDefinitionNode, parse } from 'graphql';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';

const search = 'query ($text: String!, $limit: Int) { search(text: $text, limit: $limit) { clients { id } tunnels { id } hosts { id } users { id } } }';

const operationOf = (document: DocumentNode): OperationDefinitionNode => {
  const [first] = document.definitions;
  if (first?.kind !== 'OperationDefinition') throw new Error('no operation');
  return first;
};
const cost = (source: string): number => {
  const document = parse(source);
  return costOf(schema, document, operationOf(document), {}, Number.MAX_SAFE_INTEGER);
};

eitherDialect('the search over all kinds of records', (databases) => {
  test('finds clients, tunnels, hosts and users by any of the texts that their lists search', async () => {
    const api = await openTestSchema(databases);
    const owner = await api.id('mutation { createUser(input: { username: "needle user", password: "password" }) { id } }');
    const one = await api.id(`mutation { createClient(input: { remark: "the Needle", verifyKey: "key-of-one", ownerId: ${owner} }) { id } }`);
    const other = await api.id('mutation { createClient(input: { remark: "another" }) { id } }');
    const tunnel = await api.id(`mutation { createTunnel(input: { clientId: ${other}, mode: TCP, port: 9007, targets: ["needle.internal:22"] }) { id } }`);
    const host = await api.id(`mutation { createHost(input: { clientId: ${one}, host: "needle.example.com", targets: ["80"] }) { id } }`);
    expect(await api.record(search, { text: 'NEEDLE' })).toEqual({
      clients: [{ id: one }],
      tunnels: [{ id: tunnel }],
      hosts: [{ id: host }],
      users: [{ id: owner }],
    });
    expect(await api.record(search, { text: '9007' })).toEqual({ clients: [], tunnels: [{ id: tunnel }], hosts: [], users: [] });
    expect(await api.record(search, { text: 'key-of-one' })).toMatchObject({ clients: [{ id: one }], hosts: [{ id: host }] });
    expect((await api.run(search, { text: 'key-of-one' }, { kind: 'admin', withoutSecrets: true })).data).toMatchObject({ search: { clients: [], hosts: [] } });
    // The owner sees their own, the client's web login what belongs to it; neither sees users.
    expect((await api.run(search, { text: 'needle' }, { kind: 'user', userId: owner })).data).toEqual({
      search: { clients: [{ id: one }], tunnels: [], hosts: [{ id: host }], users: null },
    });
    expect((await api.run(search, { text: 'needle' }, { kind: 'client', clientId: other })).data).toEqual({
      search: { clients: [], tunnels: [{ id: tunnel }], hosts: [], users: null },
    });
  });

  test('returns at most `limit` records of each kind, and refuses no text', async () => {
    const api = await openTestSchema(databases);
    for (let n = 0; n < 7; n++) await api.id('mutation { createClient(input: { remark: "same" }) { id } }');
    expect((await api.record(search, { text: 'same' }))['clients']).toHaveLength(5);
    expect((await api.record(search, { text: 'same', limit: 2 }))['clients']).toHaveLength(2);
    expect((await api.run(search, { text: '' })).errors).toMatchObject([{ code: 'INVALID_INPUT', extensions: { field: 'text' } }]);
    expect(await api.code(search, { text: 'same', limit: 201 })).toBe('INVALID_INPUT');
  });
});

test('each list of the search costs as much as a search of that list', () => {
  const one = cost('{ clients(search: "x", limit: 5) { rows { id } } }');
  const two = cost('{ clients(search: "x", limit: 5) { rows { id } } hosts(search: "x", limit: 5) { rows { id } } }');
  const both = cost('{ search(text: "x", limit: 5) { clients { id } hosts { id } } }');
  expect(both).toBeGreaterThan(one);
  expect(Math.abs(both - two)).toBeLessThan(10);
});
