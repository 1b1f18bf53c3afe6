import { expect, test } from '@jest/globals';
import { GraphQLError } from 'graphql';
import pino from 'pino';
import { z } from 'zod';
import { AditError, createErrorMask } from '../../src/schema/errors.ts';
import { testDatabases } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';

const databases = testDatabases('sqlite');

test('a fault of the server is logged with an id, and the caller learns nothing but the id', async () => {
  const api = await openTestSchema(databases);
  api.engine.clientStates = async () => {
    throw new Error('secret detail of the inside');
  };
  const { data, errors } = await api.run('mutation { createClient(input: {}) { runtime { connected } } }');
  expect(data).toBeNull();
  expect(errors).toHaveLength(1);
  const id = errors[0]?.extensions['id'];
  expect(errors[0]).toEqual({ message: `internal error ${String(id)}`, code: 'INTERNAL', extensions: { code: 'INTERNAL', id } });
  expect(api.logged).toContainEqual(expect.objectContaining({ errorId: id, err: expect.objectContaining({ message: 'secret detail of the inside' }) }));
});

test('the mask only passes our own errors and those of GraphQL itself, however deeply they are wrapped', () => {
  const mask = createErrorMask(pino({ level: 'silent' }));
  const wrap = (originalError: Error) => new GraphQLError(originalError.message, { originalError: new GraphQLError(originalError.message, { originalError }) });
  expect(mask(wrap(new AditError('FORBIDDEN'))).message).toBe('permission denied');
  expect(mask(new AditError('FORBIDDEN')).extensions).toEqual({ code: 'FORBIDDEN' });
  expect(mask(new GraphQLError('Syntax Error')).message).toBe('Syntax Error');
  expect(mask(wrap(new TypeError('x is not a function'))).message).toMatch(/^internal error /);
  for (const thrown of [new Error('x'), 'x', undefined, { message: 'x' }]) expect(mask(thrown).extensions['code']).toBe('INTERNAL');
});

test('unauthenticated callers get nothing, and read-only callers change nothing', async () => {
  const api = await openTestSchema(databases);
  for (
    const operation of ['{ clients { total } }', '{ server { version } }', 'mutation { createClient(input: {}) { id } }', 'mutation { deleteTunnel(id: 1) }']
  ) {
    expect(await api.code(operation, {}, { kind: 'anonymous' })).toBe('UNAUTHENTICATED');
  }
  for (const operation of ['mutation { createClient(input: {}) { id } }', 'mutation { deleteTunnel(id: 1) }']) {
    expect(await api.code(operation, {}, { kind: 'admin', readOnly: true })).toBe('FORBIDDEN');
  }
  expect(await api.services.store.db.client.count()).toBe(0);
});

test('a value of the wrong kind is refused with a text that names it', async () => {
  const api = await openTestSchema(databases);
  const create = 'mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }';
  const refusal = async (input: Record<string, unknown>) => (await api.run(create, { input: { clientId: 1, mode: 'TCP', ...input } })).errors[0]?.message;
  for (const port of [65536, 0, -1, 1.5, '80']) expect(await refusal({ port })).toContain('at "input.port"; Port: expected a whole number from 1 to 65535');
  expect(await refusal({ mode: 'ftp' })).toBe('Variable "$input" got invalid value at "input.mode"; Value does not exist in "TunnelMode" enum.');
  expect(await refusal({ prot: 1 })).toContain('Field "prot" is not defined');
  for (const expiresAt of ['2027-01-01', 'tomorrow', '2027-13-01T00:00:00Z', 0]) {
    const { errors } = await api.run('mutation ($input: CreateClientInput!) { createClient(input: $input) { id } }', { input: { expiresAt } });
    expect(errors[0]?.message).toContain('DateTime: expected ISO 8601 text with its zone');
  }
  expect((await api.run('mutation { createTunnel(input: { clientId: 1, mode: TCP, port: 70000 }) { id } }')).errors[0]?.message).toContain('Port: expected');
});

test.each([
  ['mutation { createUser(input: { password: 123456789, username: "a" }) { id } }', 'String cannot represent a non string value'],
  ['mutation { createUser(input: { password: swordfish, username: "a" }) { id } }', 'String cannot represent a non string value'],
  ['mutation { createUser(input: "swordfish") { id } }', 'Expected a value of type "CreateUserInput!"'],
  ['mutation { createUser(input: { expiresAt: "swordfish" }) { id } }', 'DateTime: expected ISO 8601 text with its zone, such as 2027-01-31T12:00:00Z'],
  ['mutation { createTunnel(input: { mode: swordfish }) { id } }', 'Value does not exist in "TunnelMode" enum.'],
  ['{ client(id: { swordfish: 1 }) { id } }', 'ID cannot represent a non-string and non-integer value'],
  ['mutation { createUser(input: { password: "a" "swordfish" }) { id } }', 'Syntax Error: Expected Name, found String.'],
  ['{ "swordfish" }', 'Syntax Error: Expected Name, found String.'],
  ['{ a(b: 1swordfish) }', 'Syntax Error: Invalid number, expected digit but got.'],
  ['mutation { createUser(input: { password: "swordfish }) { id } }', 'Syntax Error: Unterminated string.'],
])('%s is refused without a quotation of what may be a secret', async (operation, message) => {
  const api = await openTestSchema(databases);
  const { errors } = await api.run(operation);
  const problems = z.array(z.object({ message: z.string() })).optional();
  expect(errors.flatMap((error) => [error, ...problems.parse(error.extensions['problems']) ?? []]).map((each) => each.message)).toContain(message);
  expect(JSON.stringify(errors)).not.toMatch(/swordfish|123456789/);
});

test('a variable of the wrong kind is named by its place, not by its value', async () => {
  const api = await openTestSchema(databases);
  const create = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
  for (
    const [input, message] of [
      [{ username: 'a', password: ['swordfish'] }, 'Variable "$input" got invalid value at "input.password"; String cannot represent a non string value'],
      [{ username: 'a', password: 'swordfish', bogus: 1 }, 'Variable "$input" got invalid value; Field "bogus" is not defined by type "CreateUserInput".'],
      ['swordfish at "x"; y', 'Variable "$input" got invalid value; Expected type "CreateUserInput" to be an object.'],
    ] as const
  ) expect((await api.run(create, { input })).errors.map((error) => error.message)).toEqual([message]);
});
