import type { CountedBytes, EngineChange, EngineFace, WantedClient, WantedHost, WantedTunnel } from '../../engine/face.ts';
import { effectiveExpiry } from '../../rules/expiry.ts';
import { hostOfUrl } from '../../rules/host-name.ts';
import { splitIpList } from '../../rules/ip-list.ts';
import { ruleSchemes } from '../../rules/host-route.ts';
import { splitAccounts } from '../../rules/proxy-accounts.ts';
import { dialTargets, targetLines } from '../../rules/targets.ts';
import { proxyProtocols } from '../../rules/tunnel-mode.ts';
import type { User } from '../../store/generated/sqlite/client.ts';
import type { EngineState, StoredClient, StoredHost, StoredTunnel } from '../../store/hot/engine-state.ts';
import type { ChangeListener, FollowedChange } from './followed-changes.ts';
import { stored } from '../values/stored.ts';

/** What a client's settings depend on, besides its own row. */
type Owner = Pick<User, 'enabled' | 'expiresAt'>;
type ClientRow = Omit<StoredClient, keyof CountedBytes | 'lastAddress' | 'ownerEnabled' | 'ownerExpiresAt'>;

/** A stored client in the form of the engine. */
export function wantedClient(row: ClientRow & { readonly user: Owner | null }): WantedClient {
  return ownedClient(row, row.user?.enabled, row.user?.expiresAt);
}

/** @param ownerEnabled absent = it has no owner */
function ownedClient(row: ClientRow, ownerEnabled: boolean | null | undefined, ownerExpiresAt: Date | null | undefined): WantedClient {
  const { id, vkey, basicUser, basicPassword, crypt, compress, configAllowed, maxConnections, ipWhite, ipWhitePassword } = row;
  return {
    id,
    vkey,
    basicUser,
    basicPassword,
    crypt,
    compress,
    configAllowed,
    maxConnections,
    ipWhite,
    ipWhitePassword,
    enabled: row.enabled && (ownerEnabled ?? true),
    expiresAt: effectiveExpiry(row.expiresAt, ownerExpiresAt)?.getTime() ?? null,
    // KiB/s and MiB (contract 1).
    rateLimit: row.rateLimit * 1024,
    flowLimit: row.flowLimit * 1024 ** 2,
    blackIpList: row.blackIpList,
    ipWhiteList: row.ipWhiteList,
  };
}

/** A stored tunnel in the form of the engine. */
export function wantedTunnel(row: Omit<StoredTunnel, keyof CountedBytes>): WantedTunnel {
  const { id, clientId, mode, enabled, port, serverIp, localProxy, password, localPath, stripPrefix } = row;
  return {
    id,
    clientId,
    mode,
    enabled,
    port,
    serverIp,
    localProxy,
    password,
    localPath,
    stripPrefix,
    targets: dialTargets(row.target),
    proxyProtocol: stored(proxyProtocols, row.proxyProtocol),
    accounts: splitAccounts(row.accounts),
  };
}

/** A stored host in the form of the engine. */
function wantedHost(row: Omit<StoredHost, keyof CountedBytes>): WantedHost {
  const { id, clientId, host, location, enabled, localProxy, hostChange, autoHttps, acme, namedByAdmin } = row;
  return {
    id,
    clientId,
    host,
    location,
    enabled,
    localProxy,
    hostChange,
    autoHttps,
    acme,
    namedByAdmin,
    scheme: stored(ruleSchemes, row.scheme),
    targets: dialTargets(row.target),
    headers: row.headerChange === '' ? [] : targetLines([row.headerChange]),
    certificate: row.certFilePath,
    privateKey: row.keyFilePath,
  };
}

/** The whole stored state, with which the engine starts, page by page. */
export function wantedState({ clients, tunnels, hosts, blackIpList, serverUrl }: EngineState) {
  return {
    clients: converted(clients, (row) => ({
      wanted: ownedClient(row, row.ownerEnabled, row.ownerExpiresAt),
      stored: bytesOf(row),
      lastAddress: row.lastAddress,
    })),
    tunnels: converted(tunnels, (row) => ({ wanted: wantedTunnel(row), stored: bytesOf(row) })),
    hosts: converted(hosts, (row) => ({ wanted: wantedHost(row), stored: bytesOf(row) })),
    blackIpList: splitIpList(blackIpList),
    serverName: hostOfUrl(serverUrl),
  };
}

function bytesOf({ inletBytes, exportBytes }: CountedBytes): CountedBytes {
  return { inletBytes, exportBytes };
}

async function* converted<Row, Wanted>(pages: AsyncIterable<Iterable<Row>>, convert: (row: Row) => Wanted): AsyncGenerator<Iterable<Wanted>> {
  for await (const rows of pages) yield eachOf(rows, convert);
}

/** Each row is converted when it is used, so that no garbage collection copies a page of them. */
function* eachOf<Row, Wanted>(rows: Iterable<Row>, convert: (row: Row) => Wanted): Generator<Wanted> {
  for (const row of rows) yield convert(row);
}

/** The listener that applies stored changes to the engine. */
export function applyToEngine(engine: EngineFace): ChangeListener {
  return async (change) => {
    await Promise.all(engineChanges(change).map((wanted) => engine.apply(wanted)));
  };
}

/** Empty = the change doesn't affect the engine */
function engineChanges(change: FollowedChange): EngineChange[] {
  if ('reset' in change && change.reset !== undefined && change.row !== null) {
    return [{ kind: 'trafficReset', of: change.resource, id: change.id, ...change.reset }];
  }
  switch (change.resource) {
    case 'client':
      return [change.row === null ? { kind: 'clientRemoved', id: change.id } : { kind: 'client', client: wantedClient(change.row) }];
    case 'tunnel':
      return [change.row === null ? { kind: 'tunnelRemoved', id: change.id } : { kind: 'tunnel', tunnel: wantedTunnel(change.row), lease: change.lease }];
    case 'host':
      return [change.row === null ? { kind: 'hostRemoved', id: change.id } : { kind: 'host', host: wantedHost(change.row) }];
    case 'user':
      return change.clients.map((client) => ({ kind: 'client', client: wantedClient(client) }));
    case 'globalSettings':
      return change.row === null
        ? []
        : [{ kind: 'blackIpList', list: splitIpList(change.row.blackIpList) }, { kind: 'serverName', name: hostOfUrl(change.row.serverUrl) }];
    case 'acme':
      return [{ kind: 'acme', name: change.name }];
    case 'node':
    case 'access':
      return [];
  }
}
