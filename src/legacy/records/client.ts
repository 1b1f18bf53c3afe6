import { expireTimeText } from '../../rules/expire-time.ts';
import type { ClientFieldsFragment, UpdateClientInput } from '../generated/graphql.ts';
import type { ReadsBack } from '../settable.ts';
import type { Shaped } from '../shapes.ts';

/** Its lists of addresses can be long and are only made when the record is written. */
type ClientFields =
  & Omit<ReadsBack<ClientFieldsFragment, UpdateClientInput, 'ownerId' | 'basicPassword' | 'allowlistPassword' | 'webPassword'>, 'blocklist' | 'allowlist'>
  & {
    readonly blocklist: Iterable<string>;
    readonly allowlist: Iterable<string>;
  };

/**
 * Builds a client record (contract 1.1). Secrets keep their keys and are always "" (D16), arrays are never null (D22), times are
 * text in the server's local zone. RateLimit is in KB/s, FlowLimit in MiB, the flows in bytes, NowRate in bytes/s.
 */
export function clientRecord(client: ClientFields): Shaped<'Client'> {
  const { owner, runtime } = client;
  return {
    Id: Number(client.id),
    UserId: Number(owner?.id ?? 0),
    UserName: owner?.username ?? '',
    VerifyKey: client.verifyKey ?? '',
    Addr: runtime.address ?? '',
    LocalAddr: runtime.localAddress ?? '',
    Remark: client.remark,
    Status: client.enabled,
    IsConnect: runtime.connected,
    RateLimit: client.rateLimit ?? 0,
    Flow: { ExportFlow: runtime.exportBytes, InletFlow: runtime.inletBytes, FlowLimit: client.flowLimit ?? 0 },
    Rate: { NowRate: runtime.rate },
    NoStore: false,
    NoDisplay: false,
    MaxConn: client.maxConnections ?? 0,
    NowConn: runtime.connections,
    ConfigConnAllow: client.configAllowed,
    MaxTunnelNum: client.maxTunnels ?? 0,
    Version: runtime.version ?? '',
    BlackIpList: client.blocklist,
    IpWhite: client.allowlistEnabled,
    IpWhitePass: '',
    IpWhiteList: client.allowlist,
    CreateTime: timeText(client.createdAt),
    LastOnlineTime: timeText(runtime.lastOnlineAt),
    ExpireTime: timeText(client.expiresAt),
    UserExpireTime: timeText(owner?.expiresAt ?? null),
    EffectiveExpireTime: timeText(client.effectiveExpiresAt),
    Cnf: { U: client.basicUser ?? '', P: '', Compress: client.compress, Crypt: client.encrypt },
    WebUserName: client.webUsername ?? '',
    WebPassword: '',
  };
}

/** A point in time in the format of the legacy API; "" = none. */
export function timeText(iso: string | null): string {
  return iso === null ? '' : expireTimeText(new Date(iso));
}
