import { expect } from '@jest/globals';
import type { Differences } from '../support/store-copy.ts';
import { effects, tokensOf } from './effects.ts';
import { isAdministrator, isTheirs, type Least, seenBy, userOf } from './roles.ts';
import { type CallerName, lockedAddress, password, type Target } from './world.ts';

/** What is to become of a call: the field's value, or the code of the error. */
export type Outcome = { readonly data: unknown } | string;

/** What a root field is to ask for, and to do. */
export interface ExpectedField {
  /** The least that a caller has to be. */
  readonly least: Least;
  /** The call is about a record of somebody's: what becomes of it when that isn't the caller's. */
  readonly notTheirs?: Outcome;
  /** What becomes of an administrator's call about a record that isn't there. */
  readonly notThere?: Outcome;
  /** The field with its arguments and selection; `id` is the record's. */
  readonly field: (id: number) => string;
  /** The whole value for a caller that is authorized. */
  readonly value: (id: number, caller: CallerName) => unknown;
  /** What it does to the records, which is nothing for a query. */
  readonly does?: (id: number, caller: CallerName) => Differences;
  /** Makes the records different first. */
  readonly given?: string;
  /** Where the general rule doesn't hold. */
  readonly except?: (caller: CallerName, target: Target) => Outcome | undefined;
}

const none: Outcome = { data: null };
const seen = (caller: CallerName) => ({ total: seenBy(caller).length, rows: seenBy(caller).map((id) => ({ id })) });
/** One record that is read: neither another's nor one that isn't there. */
const read = { least: 'client login', notTheirs: none, notThere: none } as const;
/** One record that is changed. */
const changed = { least: 'client login', notTheirs: 'FORBIDDEN', notThere: 'NOT_FOUND' } as const;
/** Several records that are changed: the call itself succeeds. */
const changedEach = {
  least: 'client login',
  notTheirs: { data: [{ code: 'FORBIDDEN' }] },
  notThere: { data: [{ code: 'NOT_FOUND' }] },
  value: () => [{ code: null }],
} as const;
const administrators = { least: 'administrator', notThere: 'NOT_FOUND' } as const;
/** A user's own account; tokens make no other, which could outlast them. */
const account = { least: 'user', notTheirs: 'FORBIDDEN', notThere: 'NOT_FOUND' } as const;
const notByToken = (caller: CallerName) => caller === 'user token' || caller === 'other user' || caller === 'token without secrets' ? 'FORBIDDEN' : undefined;

/** Every client's agent was connected once. */
export const agentsAway = `UPDATE "Client" SET "lastOnlineAt" = '2026-01-01T00:00:00.000+00:00'`;

/** The problems of a caller while no agent is connected; administrators also see the expired user and the lockout. */
const problemsOf = (caller: CallerName) => ({
  total: seenBy(caller).length + (isAdministrator(caller) ? 2 : 0),
  rows: [
    ...seenBy(caller).toReversed().map((id) => ({ code: 'AGENT_AWAY', client: { id } })),
    ...(isAdministrator(caller) ? [{ code: 'USER_EXPIRES', client: null }, { code: 'LOCKED_OUT', client: null }] : []),
  ],
});

const noRecords = Object.fromEntries(
  ['user', 'client', 'tunnel', 'host', 'platformDomain', 'globalSettings'].map((resource) => [resource, { added: 0, changed: 0, unchanged: 0 }]),
);

const queries: Readonly<Record<string, ExpectedField>> = {
  server: { least: 'client login', field: () => 'server { version bridgePort }', value: () => ({ version: '0.0.0', bridgePort: 8024 }) },
  nodes: { least: 'administrator', field: () => 'nodes { name version }', value: () => [] },
  viewer: {
    least: 'client login',
    field: () => 'viewer { role name readOnly secrets user { id } client { id } }',
    value: (_id, caller) => {
      if (caller === 'legacy client login') return { role: 'CLIENT', name: 'web', readOnly: false, secrets: true, user: null, client: { id: 1 } };
      return {
        role: isAdministrator(caller) ? 'ADMINISTRATOR' : 'USER',
        name: isAdministrator(caller) ? 'admin' : ['alice', 'bob', 'carol'][(userOf(caller) ?? 0) - 1],
        readOnly: caller === 'read-only token',
        secrets: caller !== 'token without secrets',
        user: isAdministrator(caller) ? null : { id: userOf(caller) },
        client: null,
      };
    },
  },
  lockouts: {
    least: 'administrator',
    field: () => 'lockouts { kind credential source }',
    value: () => [{ kind: 'ADDRESS', credential: 'LOGIN', source: lockedAddress }],
  },
  // In this world, everybody with a password has a session, in no certain order.
  sessions: {
    least: 'administrator',
    field: () => 'sessions { role user { id } client { id } }',
    value: () => expect.arrayContaining([{ role: 'ADMINISTRATOR', user: null, client: null }, { role: 'CLIENT', user: null, client: { id: 1 } }]),
  },
  user: {
    least: 'user',
    notTheirs: none,
    notThere: none,
    field: (id) => `user(id: ${id}) { id username }`,
    value: (id) => ({ id, username: ['alice', 'bob', 'carol'][id - 1] }),
  },
  users: { least: 'administrator', field: () => 'users { total rows { id } }', value: () => ({ total: 4, rows: [1, 2, 3, 4].map((id) => ({ id })) }) },
  apiTokens: {
    ...account,
    notThere: { data: [] },
    field: (id) => `apiTokens(userId: ${id}) { id }`,
    value: (id) => tokensOf[id]?.map((token) => ({ id: token })),
  },
  'apiTokens of the caller': {
    least: 'user',
    field: () => 'apiTokens { id }',
    value: (_id, caller) => tokensOf[userOf(caller) ?? 0]?.map((token) => ({ id: token })) ?? [],
  },
  legacyApiToken: {
    ...account,
    notThere: none,
    field: (id) => `legacyApiToken(userId: ${id}) { id user { id } }`,
    value: (id) => ({ id: id + 5, user: { id } }),
  },
  enrolments: { ...read, least: 'user', field: (id) => `enrolments(clientId: ${id}) { id }`, value: (id) => [{ id }] },
  client: {
    ...read,
    field: (id) => `client(id: ${id}) { id verifyKey tunnels { rows { id } } }`,
    value: (id, caller) => ({ id, verifyKey: caller === 'token without secrets' ? null : `key-${id}`, tunnels: { rows: [{ id }] } }),
  },
  clients: { least: 'client login', field: () => 'clients { total rows { id } }', value: (_id, caller) => seen(caller) },
  'clients of an owner': {
    least: 'administrator',
    field: (id) => `clients(filter: { ownerId: ${id} }) { total rows { id } }`,
    // User 3 and one that isn't there have none.
    value: (id) => id < 3 ? { total: 1, rows: [{ id }] } : { total: 0, rows: [] },
  },
  tunnel: { ...read, field: (id) => `tunnel(id: ${id}) { id client { id } }`, value: (id) => ({ id, client: { id } }) },
  tunnels: { least: 'client login', field: () => 'tunnels { total rows { id } }', value: (_id, caller) => seen(caller) },
  'tunnels of a client': {
    ...changed,
    notThere: { data: { total: 0, rows: [] } },
    field: (id) => `tunnels(filter: { clientId: ${id} }) { total rows { id } }`,
    value: (id) => ({ total: 1, rows: [{ id }] }),
  },
  host: { ...read, field: (id) => `host(id: ${id}) { id client { id } }`, value: (id) => ({ id, client: { id } }) },
  hosts: { least: 'client login', field: () => 'hosts { total rows { id } }', value: (_id, caller) => seen(caller) },
  'hosts of a client': {
    ...changed,
    notThere: { data: { total: 0, rows: [] } },
    field: (id) => `hosts(filter: { clientId: ${id} }) { total rows { id } }`,
    value: (id) => ({ total: 1, rows: [{ id }] }),
  },
  platformHostAvailable: {
    least: 'client login',
    field: () => 'platformHostAvailable(platformDomainId: "d", platformPrefix: "x") { available host }',
    value: () => ({ available: true, host: 'x.platform.example.com' }),
  },
  platformDomains: { least: 'client login', field: () => 'platformDomains { id wildcard }', value: () => [{ id: 'd', wildcard: '*.platform.example.com' }] },
  globalSettings: { least: 'administrator', field: () => 'globalSettings { serverUrl }', value: () => ({ serverUrl: 'https://adit.example.com' }) },
  diagnoseHost: {
    least: 'client login',
    notTheirs: { data: { matched: false, rule: null } },
    notThere: { data: { matched: false, rule: null } },
    field: (id) => `diagnoseHost(host: "host${id}.example.com", scheme: HTTP) { matched rule { id } }`,
    value: (id) => ({ matched: true, rule: { id } }),
  },
  diagnoseTunnel: { ...read, field: (id) => `diagnoseTunnel(id: ${id}) { tunnel { id } }`, value: (id) => ({ tunnel: { id } }) },
  traffic: {
    ...changed,
    field: (id) => `traffic(resource: CLIENT, id: ${id}, step: DAY, from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z") { inletBytes }`,
    value: (id) => [{ inletBytes: 100 * id }],
  },
  refusals: {
    ...changed,
    field: (id) => `refusals(clientId: ${id}, step: DAY, from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z") { refusals { cause count } }`,
    value: (id) => [{ refusals: [{ cause: 'LOGIN', count: 100 * id }] }],
  },
  connections: {
    ...changed,
    field: (id) => `connections(clientId: ${id}) { total rows { id address tunnel { id } host { id } } }`,
    value: (id) => ({ total: 1, rows: [{ id, address: '192.0.2.1', tunnel: { id }, host: null }] }),
  },
  impact: {
    ...read,
    notTheirs: { data: { clients: 0, tunnels: 0, connections: 0, ports: [] } },
    notThere: { data: { clients: 0, tunnels: 0, connections: 0, ports: [] } },
    field: (id) => `impact(resource: CLIENT, ids: [${id}]) { clients tunnels connections ports }`,
    value: (id) => ({ clients: 1, tunnels: 1, connections: 0, ports: [9000 + id] }),
  },
  'impact of a platform domain': {
    least: 'administrator',
    field: () => 'impact(resource: PLATFORM_DOMAIN, ids: ["d"]) { hosts hostNames }',
    value: () => ({ hosts: 0, hostNames: [] }),
  },
  'diagnoseTunnel by its port': { least: 'client login', field: () => 'diagnoseTunnel(port: 1) { tunnel { id } }', value: () => null },
  'impact of a user': {
    least: 'administrator',
    notThere: { data: { clients: 0 } },
    field: (id) => `impact(resource: USER, ids: [${id}]) { clients }`,
    value: (id) => ({ clients: id === 3 ? 0 : 1 }),
  },
  agentSessions: {
    ...changed,
    field: (id) => `agentSessions(clientId: ${id}) { connectedAt endedAt endReason endText address version secure }`,
    value: (id) => [{
      connectedAt: '1970-01-01T00:00:01.000Z',
      endedAt: '1970-01-01T00:00:02.000Z',
      endReason: 'LOST',
      endText: 'silent',
      address: `192.0.2.${id}`,
      version: '1',
      secure: true,
    }],
  },
  'traffic of a user': {
    ...account,
    field: (id) => `traffic(resource: USER, id: ${id}, step: DAY, from: "2026-01-01T00:00:00Z", to: "2026-12-31T00:00:00Z") { inletBytes }`,
    value: () => [],
  },
  problems: {
    least: 'client login',
    given: agentsAway,
    field: () => 'problems { total rows { code client { id } } }',
    value: (_id, caller) => problemsOf(caller),
  },
  wallProblems: {
    least: 'wall',
    given: agentsAway,
    field: () => 'wallProblems { total rows { code client { id } } }',
    value: (_id, caller) => problemsOf(caller),
  },
  search: {
    least: 'client login',
    field: () => 'search(text: "example.com") { clients { id } tunnels { id } hosts { id } users { id } }',
    value: (_id, caller) => ({ clients: [], tunnels: [], hosts: seenBy(caller).map((id) => ({ id })), users: isAdministrator(caller) ? [] : null }),
  },
  checkCertificate: {
    least: 'client login',
    field: () => 'checkCertificate(certificate: "-----BEGIN CERTIFICATE-----") { usable problems }',
    value: () => ({ usable: false, problems: ['CERTIFICATE_INVALID'] }),
  },
  wall: {
    least: 'wall',
    field: () => 'wall { total enabled connected rows { id remark enabled connected tunnelCount hostCount connections rate inletBytes exportBytes } }',
    value: (_id, caller) => ({
      total: seenBy(caller).length,
      enabled: seenBy(caller).length,
      connected: 0,
      rows: seenBy(caller).map((id) => ({
        id,
        remark: '',
        enabled: true,
        connected: false,
        tunnelCount: 1,
        hostCount: 1,
        connections: 0,
        rate: 0,
        inletBytes: 0,
        exportBytes: 0,
      })),
    }),
  },
  auditEntries: {
    least: 'administrator',
    field: () => 'auditEntries { total rows { resourceId action } }',
    value: () => ({ total: 1, rows: [{ resourceId: '1', action: 'CREATE' }] }),
  },
};

const mutations: Readonly<Record<string, ExpectedField>> = {
  createUser: {
    least: 'administrator',
    field: () => 'createUser(input: { username: "new", password: "new password" }) { id username }',
    value: () => ({ id: 5, username: 'new' }),
    does: effects.userMade,
  },
  updateUser: {
    ...administrators,
    field: (id) => `updateUser(id: ${id}, input: { remark: "changed" }) { id remark }`,
    value: (id) => ({ id, remark: 'changed' }),
    does: (id) => effects.column('User', id, { remark: 'changed' }),
  },
  setUserEnabled: {
    ...administrators,
    field: (id) => `setUserEnabled(id: ${id}, enabled: false) { id enabled }`,
    value: (id) => ({ id, enabled: false }),
    does: effects.userDisabled,
  },
  deleteUser: { ...administrators, field: (id) => `deleteUser(id: ${id})`, value: (id) => id, does: effects.userDeleted },
  changePassword: {
    least: 'client login',
    notTheirs: 'NOT_OWN_USER',
    notThere: 'NOT_FOUND',
    except: (caller) => caller === 'legacy client login' ? 'LEGACY_CLIENT_LOGIN' : undefined,
    field: (id) => `changePassword(id: ${id}, currentPassword: "${password}", newPassword: "new password") { id }`,
    value: (id) => ({ id }),
    does: effects.passwordChanged,
  },
  // Unauthenticated callers use the endpoint that is open to them; here every caller is authenticated.
  allowVisitor: { least: 'client login', field: () => 'allowVisitor(keyDigest: "none", password: "x", address: "192.0.2.1")', value: () => 'UNKNOWN_KEY' },
  freeLockout: {
    least: 'administrator',
    field: () => `freeLockout(kind: ADDRESS, source: "${lockedAddress}")`,
    value: () => true,
    does: () => ({ [`Lockout ${lockedAddress}`]: null }),
  },
  // There is one server; test/e2e/nodes drains one of two.
  drainNode: { least: 'administrator', except: () => 'NOT_FOUND', field: () => 'drainNode(name: "nobody") { name }', value: () => null },
  undrainNode: { least: 'administrator', except: () => 'NOT_FOUND', field: () => 'undrainNode(name: "nobody") { name }', value: () => null },
  // No session has this id; test/http/session-list ends one.
  endSession: {
    least: 'administrator',
    except: () => 'NOT_FOUND',
    field: () => 'endSession(id: "abababababababab")',
    value: () => null,
  },
  createApiToken: {
    least: 'user',
    except: notByToken,
    field: () => 'createApiToken(input: { name: "new" }) { apiToken { id user { id } } }',
    value: (_id, caller) => ({ apiToken: { id: 12, user: isAdministrator(caller) ? null : { id: userOf(caller) } } }),
    does: (_id, caller) => effects.tokenMade(userOf(caller)),
  },
  'createApiToken for a user': {
    ...account,
    except: notByToken,
    field: (id) => `createApiToken(input: { name: "new", userId: ${id} }) { apiToken { id user { id } } }`,
    value: (id) => ({ apiToken: { id: 12, user: { id } } }),
    does: (id) => effects.tokenMade(id),
  },
  createEnrolment: {
    ...changed,
    least: 'user',
    except: (caller) => caller === 'token without secrets' ? 'FORBIDDEN' : undefined,
    field: (id) => `createEnrolment(input: { clientId: ${id} }) { enrolment { id client { id } } }`,
    value: (id) => ({ enrolment: { id: 4, client: { id } } }),
    does: (id) => effects.enrolmentMade(id),
  },
  revokeEnrolment: {
    ...changed,
    least: 'user',
    notTheirs: 'NOT_FOUND',
    field: (id) => `revokeEnrolment(id: ${id})`,
    value: (id) => id,
    does: (id) => effects.enrolmentRevoked(id),
  },
  revokeApiToken: { ...account, notTheirs: 'NOT_FOUND', field: (id) => `revokeApiToken(id: ${id})`, value: (id) => id, does: (id) => effects.tokenRevoked(id) },
  regenerateLegacyApiToken: {
    ...account,
    except: notByToken,
    field: (id) => `regenerateLegacyApiToken(userId: ${id}) { apiToken { id user { id } } }`,
    value: (id) => ({ apiToken: { id: 12, user: { id } } }),
    does: (id) => effects.legacyTokenMade(id),
  },
  revokeLegacyApiToken: {
    ...account,
    field: (id) => `revokeLegacyApiToken(userId: ${id})`,
    value: (id) => id + 5,
    does: (id) => effects.legacyTokenRevoked(id),
  },

  createClient: {
    least: 'client login',
    except: (caller) => caller === 'legacy client login' ? 'USER_ACCOUNT_REQUIRED' : undefined,
    field: () => 'createClient(input: { remark: "new" }) { id owner { id } }',
    value: (_id, caller) => ({ id: 4, owner: isAdministrator(caller) ? null : { id: userOf(caller) } }),
    does: (_id, caller) => effects.clientMade(caller),
  },
  updateClient: {
    ...changed,
    field: (id) => `updateClient(id: ${id}, input: { remark: "changed" }) { id remark }`,
    value: (id) => ({ id, remark: 'changed' }),
    does: (id) => effects.column('Client', id, { remark: 'changed' }),
  },
  setClientEnabled: {
    ...changed,
    least: 'user',
    field: (id) => `setClientEnabled(id: ${id}, enabled: false) { id enabled }`,
    value: (id) => ({ id, enabled: false }),
    does: effects.clientDisabled,
  },
  resetClientTraffic: {
    ...changed,
    given: 'UPDATE "Client" SET "inletBytes" = 5',
    field: (id) => `resetClientTraffic(id: ${id}) { remark }`,
    value: () => ({ remark: '' }),
    does: (id) => effects.othersUsed('Client', id),
  },
  changeClients: {
    ...changedEach,
    least: 'user',
    field: (id) => `changeClients(ids: [${id}], change: DISABLE) { code }`,
    does: effects.clientDisabled,
  },
  deleteClient: { ...changed, least: 'user', field: (id) => `deleteClient(id: ${id})`, value: (id) => id, does: (id) => effects.clientDeleted(id) },

  createTunnel: {
    ...changed,
    field: (id) => `createTunnel(input: { clientId: ${id}, mode: TCP, targets: ["22"] }) { id client { id } }`,
    value: (id) => ({ id: 4, client: { id } }),
    does: (id) => effects.tunnelMade(id),
  },
  'createTunnel that is only checked': {
    ...changed,
    field: (id) => `createTunnel(dryRun: true, input: { clientId: ${id}, mode: TCP, targets: ["22"] }) { id client { id } }`,
    value: (id) => ({ id: 0, client: { id } }),
  },
  'updateTunnel that is only checked': {
    ...changed,
    field: (id) => `updateTunnel(id: ${id}, dryRun: true, input: { remark: "changed" }) { id remark }`,
    value: (id) => ({ id, remark: 'changed' }),
  },
  copyTunnel: {
    ...changed,
    field: (id) => `copyTunnel(id: ${id}) { id client { id } }`,
    value: (id) => ({ id: 4, client: { id } }),
    does: (id) => effects.tunnelMade(id),
  },
  updateTunnel: {
    ...changed,
    field: (id) => `updateTunnel(id: ${id}, input: { remark: "changed" }) { id remark }`,
    value: (id) => ({ id, remark: 'changed' }),
    does: (id) => effects.column('Tunnel', id, { remark: 'changed' }),
  },
  'updateTunnel to another client': {
    ...changed,
    field: (id) => `updateTunnel(id: 1, input: { clientId: ${id} }) { id client { id } }`,
    value: (id) => ({ id: 1, client: { id } }),
    // The tunnel is the owner's; nobody but an administrator moves it to or from somebody else.
    except: (caller) => caller === 'other user' ? 'FORBIDDEN' : undefined,
    does: (id) => effects.tunnelMoved(id),
  },
  startTunnel: {
    ...changed,
    given: 'UPDATE "Tunnel" SET "enabled" = 0',
    field: (id) => `startTunnel(id: ${id}) { id runtime { running } }`,
    value: (id) => ({ id, runtime: { running: true } }),
    does: (id) => effects.othersStopped('Tunnel', id),
  },
  stopTunnel: {
    ...changed,
    field: (id) => `stopTunnel(id: ${id}) { id enabled }`,
    value: (id) => ({ id, enabled: false }),
    does: (id) => effects.column('Tunnel', id, { enabled: 0 }),
  },
  resetTunnelTraffic: {
    ...changed,
    given: 'UPDATE "Tunnel" SET "inletBytes" = 5',
    field: (id) => `resetTunnelTraffic(id: ${id}) { remark }`,
    value: () => ({ remark: '' }),
    does: (id) => effects.othersUsed('Tunnel', id),
  },
  changeTunnels: {
    ...changedEach,
    field: (id) => `changeTunnels(ids: [${id}], change: DELETE) { code }`,
    does: (id) => effects.tunnelDeleted(id),
  },
  deleteTunnel: { ...changed, field: (id) => `deleteTunnel(id: ${id})`, value: (id) => id, does: (id) => effects.tunnelDeleted(id) },

  probeTargets: {
    ...changed,
    field: (id) => `probeTargets(clientId: ${id}, targets: ["22"]) { target reached error }`,
    value: () => [{ target: '127.0.0.1:22', reached: true, error: null }],
  },
  closeConnection: { ...changed, field: (id) => `closeConnection(clientId: ${id}, id: ${id})`, value: (id) => id },

  createHost: {
    ...changed,
    field: (id) => `createHost(input: { clientId: ${id}, host: "new.example.com", targets: ["80"] }) { id client { id } }`,
    value: (id) => ({ id: 4, client: { id } }),
    does: (id) => effects.hostMade(id),
  },
  updateHost: {
    ...changed,
    field: (id) => `updateHost(id: ${id}, input: { remark: "changed" }) { id remark }`,
    value: (id) => ({ id, remark: 'changed' }),
    does: (id) => effects.column('Host', id, { remark: 'changed' }),
  },
  'updateHost to another client': {
    ...changed,
    field: (id) => `updateHost(id: 1, input: { clientId: ${id} }) { id client { id } }`,
    value: (id) => ({ id: 1, client: { id } }),
    except: (caller) => caller === 'other user' ? 'FORBIDDEN' : undefined,
    does: (id) => effects.hostMoved(id),
  },
  startHost: {
    ...changed,
    given: 'UPDATE "Host" SET "enabled" = 0',
    field: (id) => `startHost(id: ${id}) { id enabled }`,
    value: (id) => ({ id, enabled: true }),
    does: (id) => effects.othersStopped('Host', id),
  },
  stopHost: {
    ...changed,
    field: (id) => `stopHost(id: ${id}) { id enabled }`,
    value: (id) => ({ id, enabled: false }),
    does: (id) => effects.column('Host', id, { enabled: 0 }),
  },
  resetHostTraffic: {
    ...changed,
    given: 'UPDATE "Host" SET "inletBytes" = 5',
    field: (id) => `resetHostTraffic(id: ${id}) { remark }`,
    value: () => ({ remark: '' }),
    does: (id) => effects.othersUsed('Host', id),
  },
  changeHosts: {
    ...changedEach,
    field: (id) => `changeHosts(ids: [${id}], change: STOP) { code }`,
    does: (id) => effects.column('Host', id, { enabled: 0 }),
  },
  // No order of these hosts has failed.
  retryAcme: {
    ...changed,
    except: (caller, target) => target !== 'missing' && isTheirs(caller, target) ? 'ACME_NOT_FAILED' : undefined,
    field: (id) => `retryAcme(hostId: ${id}) { id }`,
    value: () => null,
  },
  deleteHost: { ...changed, field: (id) => `deleteHost(id: ${id})`, value: (id) => id, does: (id) => effects.hostDeleted(id) },
  updateGlobalSettings: {
    least: 'administrator',
    field: () => 'updateGlobalSettings(input: { serverUrl: "https://other.example.com" }) { serverUrl }',
    value: () => ({ serverUrl: 'https://other.example.com' }),
    does: () => effects.column('GlobalSettings', 1, { serverUrl: 'https://other.example.com' }),
  },
  stageImport: { least: 'administrator', field: () => 'stageImport(id: "a", part: "")', value: () => 0 },
  runImport: {
    least: 'administrator',
    field: () => 'runImport(id: "a", merge: true)',
    value: () => ({ counts: noRecords, counted: 0, problems: [], leftOut: [], notes: [], refusal: '', outcome: 'nothing' }),
  },
};

/** By type and name of the field, with what is particular about the call after it. */
export const expectedFields: Readonly<Record<string, ExpectedField>> = Object.fromEntries([
  ...Object.entries(queries).map(([name, expected]) => [`Query.${name}`, expected] as const),
  ...Object.entries(mutations).map(([name, expected]) => [`Mutation.${name}`, expected] as const),
]);
