import http from 'node:http';
import net from 'node:net';
import { z } from 'zod';
import { errorCodes } from '../../src/schema/error-codes.ts';
import { signedNow, type ServerProcess } from '../support/processes.ts';
import type { Caller, Model } from './model.ts';
import { chosenKey, serverIp, type Made, type Operation } from './operations.ts';

/** The outcome of an operation. */
export type Outcome = { readonly made: Made } | { readonly refused: string };

/** What an installation contains, in the model's terms: one text for each record, for comparisons. */
export type Contents = Readonly<Record<'users' | 'clients' | 'tunnels' | 'hosts', readonly Readonly<Record<string, unknown>>[]>>;

const id = z.string().transform(Number);
const made = z.object({ id, port: z.number().nullable().default(null), password: z.string().nullable().default(null) });
const answer = z.object({
  data: z.record(z.string(), z.union([made, id.transform((id) => ({ id, port: null, password: null }))])).nullish(),
  errors: z.array(z.object({ message: z.string(), extensions: z.object({ code: z.enum(Object.keys(errorCodes)) }) })).optional(),
});
const legacyAnswer = z.object({ status: z.union([z.literal(0), z.literal(1)]), msg: z.string(), id: z.number().optional() });
const contents = z.object({
  data: z.object({
    users: z.object({
      rows: z.array(
        z.object({
          id,
          username: z.string(),
          enabled: z.boolean(),
          maxClients: z.number().nullable(),
          maxTunnels: z.number().nullable(),
          expiresAt: z.string().nullable(),
          clientCount: z.number(),
          tunnelCount: z.number(),
        }),
      ),
    }),
    clients: z.object({
      rows: z.array(
        z.object({
          id,
          verifyKey: z.string(),
          enabled: z.boolean(),
          maxTunnels: z.number().nullable(),
          expiresAt: z.string().nullable(),
          owner: z.object({ id }).nullable(),
        }),
      ),
    }),
    tunnels: z.object({
      rows: z.array(
        z.object({
          id,
          mode: z.string(),
          port: z.number().nullable(),
          password: z.string().nullable(),
          enabled: z.boolean(),
          client: z.object({ id }),
          runtime: z.object({ running: z.boolean() }),
        }),
      ),
    }),
    hosts: z.object({
      rows: z.array(z.object({ id, host: z.string(), location: z.string(), scheme: z.string(), enabled: z.boolean(), client: z.object({ id }) })),
    }),
  }),
});

const contentsQuery = `{
  users(limit: 200) { rows { id username enabled maxClients maxTunnels expiresAt clientCount tunnelCount } }
  clients(limit: 200) { rows { id verifyKey enabled maxTunnels expiresAt owner { id } } }
  tunnels(limit: 200) { rows { id mode port password enabled client { id } runtime { running } } }
  hosts(limit: 200) { rows { id host location scheme enabled client { id } } }
}`;

/** A running server, as its callers reach it. */
export class Installation {
  server: ServerProcess;
  readonly #tokens = new Map<number, string>();

  constructor(server: ServerProcess) {
    this.server = server;
  }

  /** Performs an operation over one of the APIs. @throws when the server can't be reached */
  async perform(operation: Operation, api: 'graphql' | 'legacy', model: Model): Promise<Outcome> {
    const headers = await this.#headers(operation.caller, model);
    return api === 'graphql' ? this.#byGraphql(operation, headers) : this.#byLegacy(operation, headers);
  }

  /** The records, sorted by id. */
  async contents(): Promise<Contents> {
    const { data } = contents.parse(await this.#graphql(contentsQuery, {}, signature()));
    return {
      users: data.users.rows.toSorted(byId),
      clients: data.clients.rows.toSorted(byId).map(({ owner, ...row }) => ({
        ...row,
        verifyKey: chosenKey.test(row.verifyKey) ? row.verifyKey : null,
        ownerId: owner?.id ?? null,
      })),
      tunnels: data.tunnels.rows.toSorted(byId).map(({ client, runtime, ...row }) => ({ ...row, clientId: client.id, ...runtime })),
      hosts: data.hosts.rows.toSorted(byId).map(({ client, ...row }) => ({ ...row, clientId: client.id })),
    };
  }

  /** The status with which a name and path are answered, without an agent: 404 = no rule has them. */
  async statusOf(host: string, path: string): Promise<number> {
    return new Promise((resolve, reject) => {
      http.get({ host: '127.0.0.1', port: this.server.hostsPort, path, headers: { host }, agent: false }, (response) => {
        resolve(response.resume().statusCode ?? 0);
      }).on('error', reject);
    });
  }

  /** Whether somebody accepts connections on a TCP port of the tunnels. */
  async accepts(port: number): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = net.connect(port, serverIp, () => {
        socket.destroy();
        resolve(true);
      });
      // Without an agent, connections are accepted and reset.
      socket.on('error', (error) => resolve(!('code' in error && error.code === 'ECONNREFUSED')));
    });
  }

  async #byGraphql({ graphql: { text, variables }, name }: Operation, headers: Readonly<Record<string, string>>): Promise<Outcome> {
    const raw = await this.#graphql(text, variables, headers);
    const { data, errors } = answer.parse(raw);
    const [error] = errors ?? [];
    if (error !== undefined) return { refused: error.extensions.code };
    const [record] = Object.values(data ?? {});
    if (record === undefined) throw new Error(`${name} answered ${JSON.stringify(raw)}`);
    return { made: record };
  }

  async #byLegacy({ caller, legacy: { route, parameters } }: Operation, headers: Readonly<Record<string, string>>): Promise<Outcome> {
    const response = await this.#post(
      route,
      new URLSearchParams(Object.entries({ ...parameters, ...(caller === null && signedNow()) }).map(([name, value]) => [name, String(value)])),
      headers,
    );
    const { status, msg, id = Number(parameters['id']) } = legacyAnswer.parse(await response.json());
    if (status === 0) return { refused: response.status === 401 ? 'UNAUTHENTICATED' : response.status === 403 ? 'FORBIDDEN' : `legacy: ${msg}` };
    const isTunnel = route === '/index/add/' || route === '/index/copy/' || route === '/index/edit/';
    return { made: isTunnel ? await this.#tunnel(id) : { id, port: null, password: null } };
  }

  /** The legacy API does not return what was assigned. */
  async #tunnel(id: number): Promise<Made> {
    const { data } = answer.parse(await this.#graphql('query ($id: ID!) { tunnel(id: $id) { id port password } }', { id }, signature()));
    const [record] = Object.values(data ?? {});
    if (record === undefined) throw new Error(`there is no tunnel ${id}`);
    return record;
  }

  async #headers(caller: Caller, model: Model): Promise<Readonly<Record<string, string>>> {
    if (caller === null) return signature();
    let token = this.#tokens.get(caller);
    if (token === undefined && model.users.has(caller)) {
      const { data } = z.object({ data: z.object({ regenerateLegacyApiToken: z.object({ token: z.string() }) }) })
        .parse(await this.#graphql('mutation ($user: ID!) { regenerateLegacyApiToken(userId: $user) { token } }', { user: caller }, signature()));
      token = data.regenerateLegacyApiToken.token;
      this.#tokens.set(caller, token);
    }
    return { authorization: `Bearer ${token}` };
  }

  async #graphql(query: string, variables: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>>): Promise<unknown> {
    return (await this.#post('/graphql', JSON.stringify({ query, variables }), { ...headers, 'content-type': 'application/json' })).json();
  }

  #post(route: string, body: string | URLSearchParams, headers: Readonly<Record<string, string>>): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.server.httpPort}${route}`, { method: 'POST', body, headers });
  }
}

/** What the model expects in place of {@link Installation.contents}. */
export function expectedContents(model: Model): Contents {
  const entries = <T>(records: ReadonlyMap<number, T>) => [...records].toSorted(([one], [other]) => one - other);
  return {
    users: entries(model.users).map(([id, user]) => ({
      id,
      ...user,
      enabled: model.accepts(id),
      clientCount: model.clientsOf(id).length,
      tunnelCount: model.recordsOfUser(id),
    })),
    clients: entries(model.clients).map(([id, { ownerId, verifyKey, maxTunnels, expiresAt }]) => ({
      id,
      ownerId,
      verifyKey,
      maxTunnels,
      expiresAt,
      enabled: model.isEnabled(id),
    })),
    tunnels: entries(model.tunnels).map(([id, tunnel]) => ({ id, ...tunnel, running: tunnel.enabled && model.serves(tunnel.clientId) })),
    hosts: entries(model.hosts).map(([id, host]) => ({ id, ...host })),
  };
}

function signature(): Record<string, string> {
  const { auth_key: key, timestamp } = signedNow();
  return { 'x-adit-auth-key': key, 'x-adit-timestamp': String(timestamp) };
}

function byId(one: { readonly id: number }, other: { readonly id: number }): number {
  return one.id - other.id;
}
