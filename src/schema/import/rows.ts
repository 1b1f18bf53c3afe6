import { acmeFault } from '../../rules/acme-name.ts';
import { isPast } from '../../rules/expiry.ts';
import { hostPattern } from '../../rules/host-name.ts';
import { platformPrefix } from '../../rules/platform-domain.ts';
import { newVerifyKey } from '../../rules/vkey.ts';
import type { PlatformDomain, Prisma, User } from '../../store/generated/sqlite/client.ts';
import { fastHash } from '../access/fast-hash.ts';
import { clientColumns } from '../client/input.ts';
import { AditError, invalidInput } from '../errors.ts';
import { certificateColumns, hostColumns } from '../host/input.ts';
import type { SchemaSettings } from '../services.ts';
import { accountsOf, tunnelColumns } from '../tunnel/input.ts';
import { userColumns } from '../user/input.ts';
import { textOf } from '../values/input.ts';
import type { Problems } from '../values/problems.ts';
import type { Imported } from './records.ts';

/*
 * The rows of imported records. The checks of each field are those of the inputs, as if an administrator had created the record. Columns that are not here
 * get their default, or keep their value.
 */

/** What the checks of fields use. */
export interface RowParts {
  readonly settings: SchemaSettings;
  /** ms since the epoch */
  readonly now: number;
}

const administrator = { kind: 'admin' } as const;

/** @param problems collects errors; the row is then not used */
export function userRow(problems: Problems, user: Imported<'user'>, { settings, now }: RowParts) {
  const expiresAt = dateOf(user.expiresAt);
  const { username = '', remark = '' } = userColumns(problems, { username: user.username, remark: user.remark }, settings);
  return {
    id: user.id,
    username,
    remark,
    passwordHash: user.password === '' ? '' : fastHash(user.password),
    enabled: user.enabled,
    maxClients: user.maxClients,
    maxTunnels: user.maxTunnels,
    expiresAt,
    expired: isPast(expiresAt, now),
    createdAt: dateOf(user.createdAt) ?? new Date(now),
  } satisfies Prisma.UserUncheckedCreateInput;
}

/** @param owner null = none */
export function clientRow(problems: Problems, client: Imported<'client'>, owner: Pick<User, 'id' | 'expiresAt'> | null, { now }: RowParts) {
  const expiresAt = dateOf(client.expiresAt);
  const { verifyKey, remark, basicUser, basicPassword, compress, encrypt, configAllowed } = client;
  const { rateLimit, flowLimit, maxConnections, maxTunnels, blocklist, allowlistEnabled, allowlistPassword, allowlist } = client;
  const columns = clientColumns(problems, administrator, {
    verifyKey,
    remark,
    basicUser,
    basicPassword,
    compress,
    encrypt,
    configAllowed,
    rateLimit,
    flowLimit,
    maxConnections,
    maxTunnels,
    blocklist,
    allowlistEnabled,
    allowlistPassword,
    allowlist,
    expiresAt,
  });
  const text = (field: 'webUsername' | 'lastAddress' | 'localAddress' | 'agentVersion'): string => problems.check(() => textOf(field, client[field])) ?? '';
  return {
    id: client.id,
    vkey: columns.vkey ?? newVerifyKey(),
    remark: columns.remark ?? '',
    basicUser: columns.basicUser ?? '',
    basicPassword: columns.basicPassword ?? '',
    compress,
    crypt: encrypt,
    configAllowed,
    rateLimit,
    flowLimit,
    maxConnections,
    maxTunnels,
    blackIpList: columns.blackIpList ?? '',
    ipWhite: allowlistEnabled,
    ipWhitePassword: columns.ipWhitePassword ?? '',
    ipWhiteList: columns.ipWhiteList ?? '',
    enabled: client.enabled,
    disabledByAdmin: !client.enabled,
    webUsername: text('webUsername'),
    webPasswordHash: client.webPassword === '' ? '' : fastHash(client.webPassword),
    expiresAt,
    expired: isPast(expiresAt, now) || isPast(owner?.expiresAt ?? null, now),
    createdAt: dateOf(client.createdAt) ?? new Date(now),
    lastOnlineAt: dateOf(client.lastOnlineAt),
    lastAddress: text('lastAddress'),
    localAddress: text('localAddress'),
    agentVersion: text('agentVersion'),
    inletBytes: BigInt(client.inletBytes),
    exportBytes: BigInt(client.exportBytes),
    userId: owner?.id ?? null,
  } satisfies Prisma.ClientUncheckedCreateInput;
}

/** The row of a tunnel. */
export function tunnelRow(problems: Problems, tunnel: Imported<'tunnel'>, { settings, now }: RowParts) {
  const { remark, serverIp, targets, localProxy, password, localPath, stripPrefix, proxyProtocol } = tunnel;
  const columns = tunnelColumns(problems, { remark, serverIp, targets, localProxy, password, localPath, stripPrefix, proxyProtocol }, settings);
  return {
    id: tunnel.id,
    clientId: tunnel.clientId,
    mode: tunnel.mode,
    port: tunnel.port,
    remark: columns.remark ?? '',
    serverIp: columns.serverIp ?? '',
    target: columns.target ?? '',
    localProxy: columns.localProxy ?? false,
    password: columns.password ?? '',
    localPath: columns.localPath ?? '',
    stripPrefix: columns.stripPrefix ?? '',
    proxyProtocol,
    accounts: problems.check(() => accountsOf(tunnel.accounts)) ?? '',
    enabled: tunnel.enabled,
    createdAt: new Date(now),
    inletBytes: BigInt(tunnel.inletBytes),
    exportBytes: BigInt(tunnel.exportBytes),
  } satisfies Prisma.TunnelUncheckedCreateInput;
}

/** @param domain its platform domain; null = a custom host. `namedByAdmin`: nobody but an administrator can have chosen its name */
export function hostRow(
  problems: Problems,
  host: Imported<'host'>,
  domain: PlatformDomain | null,
  { settings, now, namedByAdmin }: RowParts & { readonly namedByAdmin: boolean },
) {
  const context = { caller: administrator, settings };
  const { remark, scheme, location, targets, localProxy, headers, hostChange, certificate, privateKey } = host;
  const columns = hostColumns(problems, context, { remark, scheme, location, targets, localProxy, headers, hostChange });
  const certified = domain === null ? certificateColumns(problems, context, { certificate, privateKey }) : domain;
  const name = problems.check(() => nameOf(host, domain)) ?? { host: '', prefix: null };
  return {
    id: host.id,
    clientId: host.clientId,
    host: name.host,
    platformDomainId: domain?.id ?? null,
    platformPrefix: name.prefix,
    location: columns.location ?? '/',
    scheme,
    remark: columns.remark ?? '',
    target: columns.target ?? '',
    localProxy: columns.localProxy ?? false,
    headerChange: columns.headerChange ?? '',
    hostChange: columns.hostChange ?? '',
    certFilePath: certified.certFilePath ?? '',
    keyFilePath: certified.keyFilePath ?? '',
    autoHttps: scheme !== 'http' && host.autoHttps,
    acme: host.acme && scheme !== 'http' && domain === null && acmeFault(name.host) === '',
    namedByAdmin,
    enabled: host.enabled,
    createdAt: new Date(now),
    inletBytes: BigInt(host.inletBytes),
    exportBytes: BigInt(host.exportBytes),
  } satisfies Prisma.HostUncheckedCreateInput;
}

/** @throws {AditError} HOST_INVALID, PLATFORM_PREFIX_INVALID, PLATFORM_HTTP_ONLY */
function nameOf(host: Imported<'host'>, domain: PlatformDomain | null): { readonly host: string; readonly prefix: string | null } {
  const name = hostPattern(host.host);
  if (name === undefined) throw new AditError('HOST_INVALID', { field: 'host' });
  if (domain === null) return { host: name, prefix: null };
  const suffix = domain.wildcard.slice(1);
  const prefix = name.endsWith(suffix) ? platformPrefix(name.slice(0, -suffix.length)) : undefined;
  if (prefix === undefined) throw invalidInput('host', `is not one label below ${domain.wildcard}`);
  if (domain.certFilePath === '' && host.scheme !== 'http') throw new AditError('PLATFORM_HTTP_ONLY', { wildcard: domain.wildcard, field: 'scheme' });
  return { host: name, prefix };
}

function dateOf(time: number | null): Date | null {
  return time === null ? null : new Date(time);
}
