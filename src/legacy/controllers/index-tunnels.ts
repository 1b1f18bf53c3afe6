import { AditError } from '../../schema/errors.ts';
import {
  AddTunnelDocument,
  CopyTunnelDocument,
  DeleteTunnelDocument,
  EditTunnelDocument,
  GetTunnelDocument,
  ListTunnelsDocument,
  StartTunnelDocument,
  StopTunnelDocument,
  type CreateTunnelInput,
  type ProxyProtocol,
  type TunnelMode,
  type UpdateTunnelInput,
} from '../generated/graphql.ts';
import { listFilter, listing, sort, sorting } from '../list-parameters.ts';
import { about, boolean, choice, id, integer, keptText, list as listOf, reference, text, type Values } from '../parameters.ts';
import { tunnelRecord } from '../records/tunnel.ts';
import { list, single, write, type Route } from '../route.ts';
import { type Complete, fieldNames, inputOf, noneAt0, noneAtEmpty, sets } from '../settable.ts';

const modes: Readonly<Record<string, TunnelMode>> = {
  tcp: 'TCP',
  udp: 'UDP',
  httpProxy: 'HTTP_PROXY',
  socks5: 'SOCKS5',
  secret: 'SECRET',
  p2p: 'P2P',
  file: 'FILE',
};
const proxyProtocols: Readonly<Record<string, ProxyProtocol>> = { '': 'OFF', V1: 'V1', V2: 'V2', v1: 'V1', v2: 'V2', 0: 'OFF', 1: 'V1', 2: 'V2' };

/** The parameters that /index/add/ and /index/edit/ may set (contract 1.3), in the order in which NPS checks them. */
const settable = {
  type: sets('mode', about('What the tunnel forwards or serves. Required for a new tunnel.', choice(modes, () => new AditError('UNSUPPORTED_MODE')))),
  port: sets('port', noneAt0(about('The port to listen on; blank or 0 = a free port is assigned. secret and p2p tunnels have no port.', integer(65535)))),
  client_id: sets('clientId', reference('client')),
  remark: sets('remark', about('A note.', text())),
  server_ip: sets('serverIp', noneAtEmpty(about('The address to listen on; blank = all.', text()))),
  target: sets('targets', about('The targets, used in round-robin order: ip:port, [IPv6]:port, or just a port.', listOf())),
  local_proxy: sets('localProxy', about("The server dials the targets itself. Stays false unless the server's settings allow it.", boolean())),
  password: sets(
    'password',
    about('The password of visitor programs (secret and p2p). Blank = unchanged; for a p2p tunnel without a password, generated.', keptText()),
  ),
  local_path: sets('localPath', noneAtEmpty(about("The directory on the agent's machine to serve (file).", text()))),
  strip_pre: sets('stripPrefix', noneAtEmpty(about('The prefix to remove from the URL path (file).', text()))),
  proto_version: sets(
    'proxyProtocol',
    about(
      "The PROXY protocol header that carries the visitor's address to the target (tcp and secret); blank or 0 = none, 1 = V1, 2 = V2.",
      choice(proxyProtocols),
    ),
  ),
};

function tunnelInput(values: Values<typeof settable>): Complete<UpdateTunnelInput, 'accounts'> {
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
      filter_client_id: about('Another name of client_id. Takes precedence over it.', listing.strictFilter),
      user_id: listing.owner,
      unassigned: listing.unassigned,
      type: { ...about('Only those of this type; blank = all.', text()), choices: Object.keys(modes) },
      search: listing.search,
      sort: sort({
        Id: 'ID',
        ClientId: 'CLIENT_ID',
        Remark: 'REMARK',
        'Client.VerifyKey': 'VERIFY_KEY',
        VerifyKey: 'VERIFY_KEY',
        Target: 'TARGET',
        Mode: 'MODE',
        Port: 'PORT',
        Password: 'PASSWORD',
        Status: 'ENABLED',
        RunStatus: 'RUNNING',
        IsConnect: 'CONNECTED',
        'Client.IsConnect': 'CONNECTED',
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
    summary: 'Returns a tunnel.',
    parameters: tunnelId,
    operation: GetTunnelDocument,
    variables: (values) => values,
    record: ({ tunnel }) => tunnel && tunnelRecord(tunnel),
  }),
  write({
    path: '/index/add',
    summary: 'Creates a tunnel and starts it. If the port is 0 or blank, the server assigns one.',
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
    summary: 'Creates a copy of a tunnel on a newly assigned port.',
    parameters: tunnelId,
    operation: CopyTunnelDocument,
    variables: (values) => values,
    success: 'add success',
    createdId: ({ copyTunnel }) => copyTunnel.id,
    texts: { 'NOT_FOUND client': noClient },
  }),
  write({
    path: '/index/edit',
    summary: 'Changes a tunnel. Absent parameters keep their values. A stopped tunnel stays stopped.',
    parameters: { ...tunnelId, ...settable },
    operation: EditTunnelDocument,
    variables: (values) => ({ id: values.id, input: tunnelInput(values) }),
    success: 'modified success',
    texts: { 'NOT_FOUND client': noClient },
    fields: fieldNames(settable),
  }),
  write({
    path: '/index/stop',
    summary: 'Stops a tunnel: closes its port and its connections.',
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
