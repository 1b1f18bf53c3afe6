import type { IncomingMessage } from 'node:http';
import {
  AddClientDocument,
  DeleteClientDocument,
  EditClientDocument,
  GetClientDocument,
  ListClientsDocument,
  SetClientEnabledDocument,
  type BridgeType,
  type UpdateClientInput,
} from '../generated/graphql.ts';
import { listFilter, listing, sort, sorting } from '../list-parameters.ts';
import { about, boolean, forAdministrators, id, integer, keptText, list as listOf, owner, requiredBoolean, text, time, type Values } from '../parameters.ts';
import { clientRecord } from '../records/client.ts';
import { list, single, write, type Route } from '../route.ts';
import { type Complete, fieldNames, inputOf, noneAt0, noneAtEmpty, sets } from '../settable.ts';

/** The parameters that /client/add/ and /client/edit/ may set (contract 2.2). */
const settable = {
  remark: sets('remark', about('A note.', text())),
  vkey: sets(
    'verifyKey',
    forAdministrators(about('The key that the agent authenticates with. Must be unique. Blank = unchanged; for a new client, generated.', keptText())),
  ),
  u: sets('basicUser', noneAtEmpty(about("The user name that the client's proxies and hosts require of visitors.", text()))),
  p: sets('basicPassword', about('The password that belongs to it; blank = unchanged.', keptText())),
  compress: sets('compress', about('Compress the traffic between server and agent.', boolean())),
  crypt: sets('encrypt', about('Encrypt the traffic between server and agent.', boolean())),
  config_conn_allow: sets('configAllowed', forAdministrators(about("Accept tunnels and hosts from the agent's configuration file.", boolean()))),
  rate_limit: sets('rateLimit', forAdministrators(noneAt0(about('The maximum rate of all connections together in KB/s; blank or 0 = unlimited.', integer())))),
  flow_limit: sets(
    'flowLimit',
    forAdministrators(noneAt0(about('The maximum traffic in MiB, in both directions together; blank or 0 = unlimited.', integer()))),
  ),
  max_conn: sets(
    'maxConnections',
    forAdministrators(noneAt0(about("The maximum number of visitors' connections at a time; blank or 0 = unlimited.", integer()))),
  ),
  max_tunnel: sets('maxTunnels', forAdministrators(noneAt0(about('The maximum number of tunnels and hosts together; blank or 0 = unlimited.', integer())))),
  user_id: sets('ownerId', forAdministrators(owner())),
  web_username: sets('webUsername', forAdministrators(about("The user name of the client's web login; blank = unchanged.", keptText()))),
  web_password: sets('webPassword', forAdministrators(about('The password that belongs to it; blank = unchanged.', keptText()))),
  blackiplist: sets('blocklist', about('Addresses and networks (192.0.2.0/24) of visitors to refuse.', listOf())),
  ipwhite: sets('allowlistEnabled', about('Admit only visitors whose address is on ipwhitelist.', boolean())),
  ipwhitepass: sets(
    'allowlistPassword',
    noneAtEmpty(about('The password that admits visitors who are not on ipwhitelist for two hours; blank = none.', text())),
  ),
  ipwhitelist: sets('allowlist', about('Addresses and networks of visitors to admit.', listOf())),
  expire_time: sets('expiresAt', forAdministrators(about('When the client expires: not after its owner.', time()))),
};

function clientInput(values: Values<typeof settable>): Complete<UpdateClientInput> {
  return inputOf(settable, values);
}

const bridgeTypes: Readonly<Record<BridgeType, string>> = { TCP: 'tcp' };

/** The endpoints under /client (contract 2.2). */
export const clientRoutes: readonly Route[] = [
  list({
    path: '/client/list',
    answer: 'ClientRow',
    summary: 'Lists clients.',
    parameters: {
      user_id: listing.owner,
      unassigned: listing.unassigned,
      search: listing.search,
      sort: sort({
        Id: 'ID',
        Remark: 'REMARK',
        Version: 'VERSION',
        VerifyKey: 'VERIFY_KEY',
        Addr: 'ADDRESS',
        LocalAddr: 'LOCAL_ADDRESS',
        InletFlow: 'INLET_BYTES',
        ExportFlow: 'EXPORT_BYTES',
        NowRate: 'RATE',
        Status: 'ENABLED',
        IsConnect: 'CONNECTED',
      }),
      order: listing.order,
      offset: listing.offset,
      limit: listing.limit,
    },
    operation: ListClientsDocument,
    variables: ({ sort: field, order, search, offset, limit, ...owner }) => ({ filter: listFilter(owner), search, sort: sorting(field, order), offset, limit }),
    page: ({ clients, server }, request) => {
      // In every row, and next to `rows` and `total` (contract D2).
      const seen = { ip: requestHost(request), bridgeType: bridgeTypes[server.bridgeType], bridgePort: server.bridgePort };
      // Not spread: copying a record of this size takes a hundred times as long as creating it.
      return { rows: clients.rows.map((client) => Object.assign(clientRecord(client), seen)), total: clients.total, ...seen };
    },
  }),
  single({
    path: '/client/getclient',
    answer: 'Client',
    summary: 'Returns a client.',
    parameters: { id: id('client') },
    operation: GetClientDocument,
    variables: (values) => values,
    record: ({ client }) => client && clientRecord(client),
  }),
  write({
    path: '/client/add',
    summary: 'Creates a client.',
    parameters: settable,
    operation: AddClientDocument,
    variables: (values) => ({ input: clientInput(values) }),
    success: 'add success',
    createdId: ({ createClient }) => createClient.id,
    fields: fieldNames(settable),
  }),
  write({
    path: '/client/edit',
    summary: 'Changes a client. Absent parameters keep their values.',
    parameters: { id: id('client'), ...settable, clear_legacy_web_login: forAdministrators(about('Remove the web login first.', boolean())) },
    operation: EditClientDocument,
    variables: (values) => ({
      id: values.id,
      // Null removes the old login; a login in the same call then becomes the new one.
      input: {
        ...clientInput(values),
        ...(values.clear_legacy_web_login && { webUsername: values.web_username ?? null, webPassword: values.web_password ?? null }),
      },
    }),
    success: 'save success',
    fields: fieldNames(settable),
  }),
  write({
    path: '/client/changestatus',
    aliases: ['/client/change_status'],
    summary: 'Enables or disables a client.',
    parameters: { id: id('client'), status: about('true = enable, false = disable.', requiredBoolean()) },
    operation: SetClientEnabledDocument,
    variables: ({ id: client, status }) => ({ id: client, enabled: status }),
    success: 'modified success',
    texts: { 'NOT_FOUND client': 'modified fail' },
  }),
  write({
    path: '/client/del',
    summary: 'Deletes a client with its tunnels and hosts.',
    parameters: { id: id('client') },
    operation: DeleteClientDocument,
    variables: (values) => values,
    success: 'delete success',
  }),
];

/** The host that the caller used: the Host header without port and brackets (contract 2.1, `ip`). */
function requestHost(request: IncomingMessage): string {
  const host = request.headers.host ?? '';
  if (host.startsWith('[')) return host.slice(1, host.includes(']') ? host.indexOf(']') : undefined);
  const port = host.lastIndexOf(':');
  return port < 0 ? host : host.slice(0, port);
}
