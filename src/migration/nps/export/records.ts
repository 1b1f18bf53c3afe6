import { expireTimeText } from '../../../rules/expire-time.ts';
import { splitIpList } from '../../../rules/ip-list.ts';
import { splitAccounts } from '../../../rules/proxy-accounts.ts';
import type { Client, GlobalSettings, Host, PlatformDomain, Tunnel, User } from '../../../store/generated/sqlite/client.ts';
import type { ClientWithOwner } from '../../../schema/writes/changes.ts';
import { escaped } from '../escaped-text.ts';

/** The lineages whose folders can be written: Y (ehang-io, yisier), Z (ZiDuNet), D (djylb). */
export const lineages = ['Y', 'Z', 'D'] as const;
/** @see lineages */
export type Lineage = (typeof lineages)[number];

const noHealth = {
  HealthCheckTimeout: 0,
  HealthMaxFail: 0,
  HealthCheckInterval: 0,
  HealthNextTime: '0001-01-01T00:00:00Z',
  HealthMap: null,
  HttpHealthUrl: '',
  HealthRemoveArr: null,
  HealthCheckType: '',
  HealthCheckTarget: '',
};

function flowOf({ inletBytes, exportBytes }: Pick<Client, 'inletBytes' | 'exportBytes'>, limit = 0) {
  return { ExportFlow: Number(exportBytes), InletFlow: Number(inletBytes), FlowLimit: limit };
}

/** A record of clients.json. @param password of its web login; "" = none @param now ms since the epoch */
export function exportedClient(client: ClientWithOwner, lineage: Lineage, password: string, now: number) {
  const owner = client.user;
  // Without users, what the owner's state does to the client has to be in the client.
  const serves = lineage === 'Z' || owner === null || (owner.enabled && (owner.expiresAt === null || owner.expiresAt.getTime() > now));
  const flow = flowOf(client, client.flowLimit);
  return {
    Cnf: { U: escaped(client.basicUser), P: escaped(client.basicPassword), Compress: client.compress, Crypt: client.crypt },
    Id: client.id,
    ...(lineage === 'Z' && { UserId: client.userId ?? 0 }),
    VerifyKey: client.vkey,
    Addr: client.lastAddress,
    LocalAddr: client.localAddress,
    Remark: escaped(client.remark),
    Status: client.enabled && serves,
    IsConnect: false,
    RateLimit: client.rateLimit,
    Flow: lineage === 'D' ? { ...flow, TimeLimit: client.expiresAt?.toISOString().replace('.000Z', 'Z') ?? '0001-01-01T00:00:00Z' } : flow,
    ...(lineage === 'D' && { InletFlow: flow.InletFlow, ExportFlow: flow.ExportFlow }),
    Rate: { NowRate: 0 },
    NoStore: false,
    NoDisplay: false,
    MaxConn: client.maxConnections,
    NowConn: 0,
    WebUserName: escaped(client.webUsername),
    WebPassword: password,
    ConfigConnAllow: client.configAllowed,
    MaxTunnelNum: client.maxTunnels,
    Version: client.agentVersion,
    BlackIpList: splitIpList(client.blackIpList).map(escaped),
    CreateTime: expireTimeText(client.createdAt),
    LastOnlineTime: expireTimeText(client.lastOnlineAt),
    ...(lineage !== 'D' && {
      IpWhite: client.ipWhite,
      IpWhitePass: escaped(client.ipWhitePassword),
      IpWhiteList: splitIpList(client.ipWhiteList).map(escaped),
      ExpireTime: expireTimeText(client.expiresAt),
    }),
  };
}

/** A record of tasks.json. */
export function exportedTunnel(tunnel: Tunnel, lineage: Lineage) {
  const accounts = splitAccounts(tunnel.accounts);
  return {
    Id: tunnel.id,
    Port: tunnel.port,
    ServerIp: tunnel.serverIp,
    Mode: tunnel.mode,
    Status: tunnel.enabled,
    RunStatus: tunnel.enabled,
    Client: { Id: tunnel.clientId },
    Ports: '',
    Flow: flowOf(tunnel),
    Password: tunnel.password,
    Remark: escaped(tunnel.remark),
    TargetAddr: '',
    NoStore: false,
    LocalPath: escaped(tunnel.localPath),
    StripPre: escaped(tunnel.stripPrefix),
    ...(lineage !== 'D' && { ProtoVersion: tunnel.proxyProtocol }),
    Target: {
      TargetStr: escaped(tunnel.target),
      TargetArr: null,
      LocalProxy: tunnel.localProxy,
      ...(lineage === 'D' && { ProxyProtocol: tunnel.proxyProtocol === '' ? 0 : Number(tunnel.proxyProtocol.slice(1)) }),
    },
    MultiAccount: accounts.length === 0 ? null : { AccountMap: Object.fromEntries(accounts.map(({ user, password }) => [user, password])) },
    ...noHealth,
  };
}

/** A record of hosts.json. */
export function exportedHost(host: Host, lineage: Lineage) {
  return {
    Id: host.id,
    Host: escaped(host.host),
    HeaderChange: escaped(host.headerChange),
    HostChange: escaped(host.hostChange),
    Location: escaped(host.location),
    Remark: escaped(host.remark),
    Scheme: host.scheme,
    ...(lineage === 'D'
      ? { CertFile: host.certFilePath, KeyFile: host.keyFilePath, AutoSSL: host.acme }
      : { CertFilePath: host.certFilePath, KeyFilePath: host.keyFilePath }),
    ...(lineage === 'Z' && { PlatformDomainID: host.platformDomainId ?? '' }),
    NoStore: false,
    IsClose: !host.enabled,
    AutoHttps: host.autoHttps,
    Flow: flowOf(host),
    Client: { Id: host.clientId },
    Target: { TargetStr: escaped(host.target), TargetArr: null, LocalProxy: host.localProxy },
    ...noHealth,
  };
}

/** A record of users.json. */
export function exportedUser(user: User, password: string) {
  return {
    Id: user.id,
    UserName: escaped(user.username),
    Password: password,
    Status: user.enabled,
    Remark: escaped(user.remark),
    MaxClientNum: user.maxClients,
    MaxTunnelNum: user.maxTunnels,
    ExpireTime: expireTimeText(user.expiresAt),
    CreateTime: expireTimeText(user.createdAt),
  };
}

/** The object in global.json. */
export function exportedGlobal(global: Pick<GlobalSettings, 'blackIpList' | 'serverUrl'>, domains: readonly PlatformDomain[], lineage: Lineage) {
  return {
    BlackIpList: splitIpList(global.blackIpList).map(escaped),
    ServerUrl: escaped(global.serverUrl),
    ...(lineage === 'Z' && {
      PlatformDomains: domains.map(({ id, wildcard, certFilePath, keyFilePath }) => ({
        ID: id,
        Wildcard: wildcard,
        CertFilePath: certFilePath,
        KeyFilePath: keyFilePath,
      })),
    }),
  };
}
