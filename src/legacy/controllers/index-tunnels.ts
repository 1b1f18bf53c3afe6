import { AditError } from '../../schema/errors.ts';
import {
  AddTunnelDocument, CopyTunnelDocument, DeleteTunnelDocument, EditTunnelDocument, GetTunnelDocument, ListTunnelsDocument,
  StartTunnelDocument, StopTunnelDocument, type CreateTunnelInput, type ProxyProtocol, type TunnelMode, type UpdateTunnelInput,
} from '../generated/graphql.ts';
import { about, boolean, choice, id, integer, keptText, list as listOf, listFilter, listing, reference, sort, sorting, text, type Values } from '../parameters.ts';
import { tunnelRecord } from '../records/tunnel.ts';
import { list, single, write, type Route } from '../route.ts';
import { type Complete, fieldNames, inputOf, noneAt0, noneAtEmpty, sets } from '../settable.ts';

const modes: Readonly<Record<string, TunnelMode>> = {
  tcp: 'TCP', udp: 'UDP', httpProxy: 'HTTP_PROXY', socks5: 'SOCKS5', secret: 'SECRET', p2p: 'P2P', file: 'FILE',
};
const proxyProtocols: Readonly<Record<string, ProxyProtocol>> = { '': 'OFF', V1: 'V1', V2: 'V2', v1: 'V1', v2: 'V2', 0: 'OFF', 1: 'V1', 2: 'V2' };

/** The parameters that /index/add/ and /index/edit/ may set (contract 1.3), in the order in which NPS checks them. */
const settable = {
  type: sets('mode', about('What the tunnel does with what arrives; a new one needs it.', choice(modes, () => new AditError('UNSUPPORTED_MODE')))),
  port: sets('port', noneAt0(about('The port to listen on; blank and 0 = a free one is assigned. secret and p2p have none.', integer(65535)))),
  client_id: sets('clientId', reference('client')),
  remark: sets('remark', about('A note.', text())),
  server_ip: sets('serverIp', noneAtEmpty(about('The address to listen on; blank = all.', text()))),
  target: sets('targets', about('The targets of connections, used in round-robin order: ip:port, [IPv6]:port, or a port alone.', listOf())),
  local_proxy: sets('localProxy', about('The server dials the targets itself; stays off unless the server allows it.', boolean())),
  password: sets('password', about('The key that visitors of a secret or p2p tunnel prove; blank = keep, of a p2p tunnel that has none: generated.', keptText())),
  local_path: sets('localPath', noneAtEmpty(about("The directory of the agent's machine that a file tunnel serves.", text()))),
  strip_pre: sets('stripPrefix', noneAtEmpty(about('The beginning of the URL path that a file tunnel leaves out.', text()))),
  proto_version: sets('proxyProtocol', about("The PROXY protocol header that tells the target the visitor's address, of tcp and secret tunnels; blank and 0 = none, 1 = V1, 2 = V2.", choice(proxyProtocols))),
};

function tunnelInput(values: Values<typeof settable>): Complete<UpdateTunnelInput> {
  return inputOf(settable, values);
}

/** The input for a new tunnel. Without a client it uses an id that doesn't exist, so that errors in other parameters are reported first (contract 2.4). */
function newTunnel(values: Values<typeof settable>): CreateTunnelInput {
  if (values.type === undefined) throw new AditError('UNSUPPORTED_MODE');
  return { ...tunnelInput(values), mode: values.type, clientId: values.client_id ?? 0 };
}

const noClient = 'modified error,the client is not exist';
const tunnelId = { id: id('tunnel') };

/** The endpoints for tunnels under /index (contract 2.4). */
export const tunnelRoutes: readonly Route[] = [
  list({
    path: '/index/gettunnel',
    answer: 'Tunnel',
    summary: 'Lists tunnels.',
    parameters: {
      client_id: listing.filter,
      filter_client_id: about('As client_id, and counts before it.', listing.strictFilter),
      user_id: listing.owner,
      unassigned: listing.unassigned,
      type: { ...about('Only those of this type; blank = all.', text()), choices: Object.keys(modes) },
      search: listing.search,
      sort: sort({
        Id: 'ID', ClientId: 'CLIENT_ID', Remark: 'REMARK', 'Client.VerifyKey': 'VERIFY_KEY', VerifyKey: 'VERIFY_KEY', Target: 'TARGET', Mode: 'MODE',
        Port: 'PORT', Password: 'PASSWORD', Status: 'ENABLED', RunStatus: 'RUNNING', IsConnect: 'CONNECTED', 'Client.IsConnect': 'CONNECTED',
      }),
      order: listing.order,
      offset: listing.offset,
      limit: listing.limit,
    },
    operation: ListTunnelsDocument,
    variables: ({ client_id: ofClient, filter_client_id: filtered, type, search, sort: field, order, offset, limit, ...owner }) => {
      const wanted = type?.trim() ?? '';
      const mode = new Map(Object.entries(modes)).get(wanted);
      // An unknown type matches nothing; it must not widen the list to all tunnels.
      if (wanted !== '' && !mode) return undefined;
      const clientId = filtered || ofClient;
      return { filter: listFilter(owner, { clientId, mode }), search, sort: sorting(field, order), offset, limit };
    },
    page: ({ tunnels }) => ({ rows: tunnels.rows.map(tunnelRecord), total: tunnels.total }),
  }),
  single({
    path: '/index/getonetunnel',
    answer: 'Tunnel',
    summary: 'One tunnel.',
    parameters: tunnelId,
    operation: GetTunnelDocument,
    variables: (values) => values,
    record: ({ tunnel }) => tunnel && tunnelRecord(tunnel),
  }),
  write({
    path: '/index/add',
    summary: 'Makes a tunnel and starts it; port 0 or blank = assigned by the server.',
    parameters: settable,
    operation: AddTunnelDocument,
    variables: (values) => ({ input: newTunnel(values) }),
    success: 'add success',
    createdId: ({ createTunnel }) => createTunnel.id,
    texts: { 'NOT_FOUND client': 'client not found' },
    fields: fieldNames(settable),
  }),
  write({
    path: '/index/copy',
    summary: 'Makes a tunnel with the settings of another, on a newly assigned port.',
    parameters: tunnelId,
    operation: CopyTunnelDocument,
    variables: (values) => values,
    success: 'add success',
    createdId: ({ copyTunnel }) => copyTunnel.id,
    texts: { 'NOT_FOUND client': noClient },
  }),
  write({
    path: '/index/edit',
    summary: 'Changes a tunnel; parameters that are left out keep their values, a stopped one stays stopped.',
    parameters: { ...tunnelId, ...settable },
    operation: EditTunnelDocument,
    variables: (values) => ({ id: values.id, input: tunnelInput(values) }),
    success: 'modified success',
    texts: { 'NOT_FOUND client': noClient },
    fields: fieldNames(settable),
  }),
  write({
    path: '/index/stop',
    summary: 'Stops a tunnel: its port and its connections are closed.',
    parameters: tunnelId,
    operation: StopTunnelDocument,
    variables: (values) => values,
    success: 'stop success',
  }),
  write({
    path: '/index/start',
    summary: 'Starts a tunnel.',
    parameters: tunnelId,
    operation: StartTunnelDocument,
    variables: (values) => values,
    success: 'start success',
    texts: { PORT_UNAVAILABLE: 'start error' },
  }),
  write({
    path: '/index/del',
    summary: 'Deletes a tunnel.',
    parameters: tunnelId,
    operation: DeleteTunnelDocument,
    variables: (values) => values,
    success: 'delete success',
  }),
];
