import type { TestSchema } from './schema.ts';

/** The fields of a host that callers can set, and some others. */
export const hostFields =
  'id host location scheme mode platformDomainId platformPrefix remark targets localProxy headers hostChange certificatePath privateKeyPath hasPrivateKey autoHttps enabled client { id }';
const create = `mutation ($input: CreateHostInput!) { createHost(input: $input) { ${hostFields} } }`;
const update = `mutation ($id: ID!, $input: UpdateHostInput!) { updateHost(id: $id, input: $input) { ${hostFields} } }`;
const start = 'mutation ($id: ID!) { startHost(id: $id) { enabled } }';
const stop = 'mutation ($id: ID!) { stopHost(id: $id) { enabled } }';
const remove = 'mutation ($id: ID!) { deleteHost(id: $id) }';
const one = `query ($id: ID!) { host(id: $id) { ${hostFields} } }`;
const available = 'query ($d: ID!, $p: String!, $id: ID) { platformHostAvailable(platformDomainId: $d, platformPrefix: $p, hostId: $id) { available host } }';

/** The GraphQL operations of hosts, which return `hostFields`. */
export const hostOperations = { create, update, start, stop, remove, one, available };

/** The variables of an operation, or the input in them. */
export type Input = Readonly<Record<string, unknown>>;

/** Creates a client. @returns its id */
export const newClient = (api: TestSchema, input: Input = {}) =>
  api.id('mutation ($input: CreateClientInput!) { createClient(input: $input) { id } }', { input });
/** Creates a user in the database. @returns the id */
export const newUser = async (api: TestSchema, maxTunnels = 0) =>
  (await api.services.store.db.user.create({ data: { username: `user ${maxTunnels} ${Math.random()}`, passwordHash: '', maxTunnels } })).id;

/** Creates a host of a client, `app.example.com` by default. @returns its id */
export async function newHost(api: TestSchema, clientId: number, input: Input = {}): Promise<number> {
  return api.id(create, { input: { clientId, host: 'app.example.com', targets: ['127.0.0.1:80'], ...input } });
}

/** A platform domain without a certificate. */
export const domain = { id: 'd', wildcard: '*.p.example.com' };
