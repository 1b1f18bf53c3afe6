import type { IncomingMessage } from 'node:http';
import {
  AddClientDocument, DeleteClientDocument, EditClientDocument, GetClientDocument, ListClientsDocument, SetClientEnabledDocument,
  type UpdateClientInput,
} from '../generated/graphql.ts';
import { about, boolean, forAdministrators, id, integer, keptText, list as listOf, listing, noneAt0, owner, requiredBoolean, ownerFilter, sort, text, time, type Values } from '../parameters.ts';
import { clientRecord } from '../records/client.ts';
import { list, single, write, type Route } from '../route.ts';

/** What /client/add/ and /client/edit/ may set (contract 2.2). */
const settable = {
  remark: about('A note.', text()),
  vkey: forAdministrators(about('The key that the agent proves, unique; blank = keep, on a new client: generated.', keptText())),
  u: about('The user name that proxies and hosts ask visitors for.', text()),
  p: about('The password with it; blank = keep.', keptText()),
  compress: about('Compress traffic between server and agent.', boolean()),
  crypt: about('Encrypt traffic between server and agent.', boolean()),
  config_conn_allow: forAdministrators(about('Let the agent bring tunnels of its own configuration file.', boolean())),
  rate_limit: forAdministrators(about('KB/s over all connections; blank and 0 = unlimited.', integer())),
  flow_limit: forAdministrators(about('MiB in and out together; blank and 0 = unlimited.', integer())),
  max_conn: forAdministrators(about('The most connections of visitors at a time; blank and 0 = unlimited.', integer())),
  max_tunnel: forAdministrators(about('The most tunnels and hosts; blank and 0 = unlimited.', integer())),
  user_id: forAdministrators(owner()),
  web_username: forAdministrators(about("The user name of the client's own web login; blank = keep.", keptText())),
  web_password: forAdministrators(about('The password with it; blank = keep.', keptText())),
  blackiplist: about('Addresses and networks (192.0.2.0/24) of visitors to turn away.', listOf()),
  ipwhite: about('Let in only visitors of ipwhitelist.', boolean()),
  ipwhitepass: about('The password by which visitors let themselves in for two hours who are not on ipwhitelist; blank = none.', text()),
  ipwhitelist: about('Addresses and networks of visitors to let in.', listOf()),
  expire_time: forAdministrators(about("The client's own expiry, not later than its owner's.", time())),
};

/** The parameter behind each field of the GraphQL input. */
const fields: Readonly<Record<keyof UpdateClientInput, string>> = {
  remark: 'remark',
  verifyKey: 'vkey',
  basicUser: 'u',
  basicPassword: 'p',
  compress: 'compress',
  crypt: 'crypt',
  configAllowed: 'config_conn_allow',
  rateLimit: 'rate_limit',
  flowLimit: 'flow_limit',
  maxConnections: 'max_conn',
  maxTunnels: 'max_tunnel',
  ownerId: 'user_id',
  webUsername: 'web_username',
  webPassword: 'web_password',
  blackIpList: 'blackiplist',
  ipWhite: 'ipwhite',
  ipWhitePassword: 'ipwhitepass',
  ipWhiteList: 'ipwhitelist',
  expiresAt: 'expire_time',
};

function clientInput(values: Values<typeof settable>): UpdateClientInput {
  return {
    remark: values.remark,
    verifyKey: values.vkey,
    basicUser: values.u,
    basicPassword: values.p,
    compress: values.compress,
    crypt: values.crypt,
    configAllowed: values.config_conn_allow,
    rateLimit: noneAt0(values.rate_limit),
    flowLimit: noneAt0(values.flow_limit),
    maxConnections: noneAt0(values.max_conn),
    maxTunnels: noneAt0(values.max_tunnel),
    ownerId: values.user_id,
    webUsername: values.web_username,
    webPassword: values.web_password,
    blackIpList: values.blackiplist,
    ipWhite: values.ipwhite,
    ipWhitePassword: values.ipwhitepass,
    ipWhiteList: values.ipwhitelist,
    expiresAt: values.expire_time,
  };
}

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
        Id: 'ID', Remark: 'REMARK', Version: 'VERSION', VerifyKey: 'VERIFY_KEY', Addr: 'ADDRESS', LocalAddr: 'LOCAL_ADDRESS',
        InletFlow: 'INLET_BYTES', ExportFlow: 'EXPORT_BYTES', NowRate: 'RATE', Status: 'ENABLED', IsConnect: 'CONNECTED',
      }),
      order: listing.order,
      offset: listing.offset,
      limit: listing.limit,
    },
    operation: ListClientsDocument,
    variables: ({ sort: orderBy, order, search, offset, limit, ...owner }) => ({ ...ownerFilter(owner), search, orderBy, order: orderBy ? order : undefined, offset, limit }),
    page: ({ clients, server }, request) => {
      // On every row, and beside rows and total (contract D2).
      const seen = { ip: requestHost(request), bridgeType: server.bridgeType, bridgePort: server.bridgePort };
      // Not spread: copying a record of this size takes a hundred times as long as making it.
      return { rows: clients.rows.map((client) => Object.assign(clientRecord(client), seen)), total: clients.total, ...seen };
    },
  }),
  single({
    path: '/client/getclient',
    answer: 'Client',
    summary: 'One client.',
    parameters: { id: id('client') },
    operation: GetClientDocument,
    variables: (values) => values,
    record: ({ client }) => client && clientRecord(client),
  }),
  write({
    path: '/client/add',
    summary: 'Makes a client.',
    parameters: settable,
    operation: AddClientDocument,
    variables: (values) => ({ input: clientInput(values) }),
    success: 'add success',
    createdId: ({ createClient }) => createClient.id,
    fields,
  }),
  write({
    path: '/client/edit',
    summary: 'Changes a client; parameters that are left out keep their values.',
    parameters: { id: id('client'), ...settable, clear_legacy_web_login: forAdministrators(about('Remove the web login first.', boolean())) },
    operation: EditClientDocument,
    variables: (values) => ({
      id: values.id,
      // Null removes what there is; what is given beside it is then the new login.
      input: { ...clientInput(values), ...(values.clear_legacy_web_login && { webUsername: values.web_username ?? null, webPassword: values.web_password ?? null }) },
    }),
    success: 'save success',
    fields,
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

/** The host the caller used: the Host header without port and brackets (contract 2.1, `ip`). */
function requestHost(request: IncomingMessage): string {
  const host = request.headers.host ?? '';
  if (host.startsWith('[')) return host.slice(1, host.includes(']') ? host.indexOf(']') : undefined);
  const port = host.lastIndexOf(':');
  return port < 0 ? host : host.slice(0, port);
}
