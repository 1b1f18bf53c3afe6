import { graphql } from 'graphql';
import { expect, test } from '@jest/globals';
import { createContext } from '../../src/schema/context.ts';
import { schema } from '../../src/schema/schema.ts';
import { testDatabases } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';
import { seedClients } from '../support/seed.ts';

const databases = testDatabases('sqlite');

test('ids are text in answers, and text or a number in arguments', async () => {
  const { services } = await openTestSchema(databases);
  const [id = 0] = await seedClients(services.store, 1);
  const source = 'query ($id: ID!) { client(id: $id) { id } }';
  for (const given of [id, String(id)]) {
    const { data } = await graphql({ schema, source, variableValues: { id: given }, contextValue: createContext(services, { kind: 'admin' }) });
    expect(JSON.stringify(data)).toBe(JSON.stringify({ client: { id: String(id) } }));
  }
});

test.each([
  ['a query', '{ client(id: "abc") { id } }', 'id'],
  ['more than its column holds', '{ tunnel(id: "2147483648") { id } }', 'id'],
  ['another spelling of a number', '{ host(id: "01") { id } }', 'id'],
  ['a list', '{ tunnels(filter: { clientId: "x" }) { total } }', 'filter.clientId'],
  ['an input', 'mutation { createTunnel(input: { clientId: "", mode: TCP }) { id } }', 'input.clientId'],
  ['a deletion', 'mutation { deleteUser(id: "1.5") }', 'id'],
  ['the audit log', '{ auditEntries(filter: { callerId: "admin" }) { total } }', 'filter.callerId'],
])('what is no id is named as such: in %s', async (_name, operation, field) => {
  const api = await openTestSchema(databases);
  expect((await api.run(operation)).errors).toMatchObject([{ code: 'INVALID_INPUT', extensions: { field } }]);
});

test('an id that no record has is looked up, and not found', async () => {
  const api = await openTestSchema(databases);
  expect(await api.ok('{ client(id: "2147483647") { id } user(id: "0") { id } }')).toEqual({ client: null, user: null });
});
