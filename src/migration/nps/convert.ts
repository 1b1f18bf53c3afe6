import { existsSync } from 'node:fs';
import path from 'node:path';
import { isPem } from '../../rules/certificate.ts';
import { parseExpireTime } from '../../rules/expire-time.ts';
import { targetLines } from '../../rules/targets.ts';
import type { Imported } from '../../schema/import/records.ts';
import { unescaped } from './escaped-text.ts';
import type { RecordFindings } from './findings.ts';
import type { NpsClient, NpsHost, NpsUser } from './records.ts';

/** What nps.conf says about the records. */
export interface RecordRules {
  /** Whether the limits in the records apply. */
  readonly limits: { readonly flow: boolean; readonly rate: boolean; readonly tunnels: boolean; readonly connections: boolean };
  /** The directory that relative paths start from. */
  readonly programDirectory: string;
}

/** The largest stored number. */
const largest = 2 ** 31 - 1;

/** A record of clients.json; undefined = it is left out, or has a problem. */
export function convertClient(client: NpsClient, { limits }: RecordRules, findings: RecordFindings): Imported<'client'> | undefined {
  if (client.NoDisplay || client.Id <= 0) {
    findings.leaveOut('is the hidden client of public_vkey or of the server itself: it is no client');
    return undefined;
  }
  if (client.NoStore) {
    findings.leaveOut("comes from an agent's configuration file: it is created when that agent connects");
    return undefined;
  }
  if (client.WebTotpSecret !== '') findings.note('the second factor of the web login is not carried over: the password alone is enough');
  else if (/[^A-Za-z0-9][A-Z2-7]{16,}$/.test(client.WebPassword)) {
    findings.note(
      'the password of the web login seems to end in the secret of a second factor, which is not carried over: if the login fails, set a new password',
    );
  }
  const half = (client.WebUserName === '') !== (client.WebPassword === '');
  if (half) findings.note('the web login has only a user name or only a password: it is not carried over');
  const limit = limitOf(findings);
  const text = unescaped;
  return {
    kind: 'client',
    source: findings.source,
    id: client.Id,
    ownerId: Math.max(0, client.UserId),
    verifyKey: client.VerifyKey,
    remark: text(client.Remark),
    enabled: client.Status,
    basicUser: text(client.Cnf.U),
    basicPassword: text(client.Cnf.P),
    compress: client.Cnf.Compress,
    encrypt: client.Cnf.Crypt,
    configAllowed: client.ConfigConnAllow,
    rateLimit: limit('RateLimit', client.RateLimit, limits.rate, 'allow_rate_limit'),
    flowLimit: limit('Flow.FlowLimit', client.Flow.FlowLimit, limits.flow, 'allow_flow_limit'),
    maxConnections: limit('MaxConn', client.MaxConn, limits.connections, 'allow_connection_num_limit'),
    maxTunnels: limit('MaxTunnelNum', client.MaxTunnelNum, limits.tunnels, 'allow_tunnel_num_limit'),
    webUsername: half ? '' : text(client.WebUserName),
    webPassword: half ? '' : text(client.WebPassword),
    blocklist: client.BlackIpList.map(text),
    allowlistEnabled: client.IpWhite,
    allowlistPassword: text(client.IpWhitePass),
    allowlist: client.IpWhiteList.map(text),
    expiresAt: timeOf(findings, 'ExpireTime', client.ExpireTime) ?? timeOf(findings, 'Flow.TimeLimit', client.Flow.TimeLimit),
    createdAt: timeOf(findings, 'CreateTime', client.CreateTime),
    lastOnlineAt: timeOf(findings, 'LastOnlineTime', client.LastOnlineTime),
    lastAddress: client.Addr.replace(/:\d+$/, (port) => client.Addr.indexOf(':') === client.Addr.length - port.length ? '' : port),
    localAddress: client.LocalAddr,
    agentVersion: client.Version,
    inletBytes: bytesOf(findings, 'Flow.InletFlow', Math.max(client.Flow.InletFlow, client.InletFlow)),
    exportBytes: bytesOf(findings, 'Flow.ExportFlow', Math.max(client.Flow.ExportFlow, client.ExportFlow)),
  };
}

/** A record of users.json; undefined = it has a problem. */
export function convertUser(user: NpsUser, findings: RecordFindings): Imported<'user'> {
  if (user.Id <= 0) findings.problem('Id', 'must be at least 1');
  // A hash that this program can't verify; the clear text of a password rarely begins like one.
  const hashed = /^\$(2[abxy]|argon2|scrypt|pbkdf2|5|6)[^$]*\$|^\{[A-Z0-9]+\}/.test(user.Password);
  if (hashed) findings.note('the password is stored as a hash that cannot be verified here: set a new password');
  else if (user.Password === '') findings.note('has no password: nobody can log in until you set one');
  const tokenHash = [user.ApiKeyHash, user.ApiTokenHash, user.ApiTokenDigest].find((hash) => hash !== '') ?? '';
  if (tokenHash !== '' && !/^[0-9a-f]{64}$/i.test(tokenHash)) findings.problem('ApiTokenHash', 'must be a SHA-256 digest in hex');
  const limit = limitOf(findings);
  return {
    kind: 'user',
    source: findings.source,
    id: user.Id,
    username: unescaped(user.UserName),
    password: hashed ? '' : user.Password,
    enabled: user.Status,
    remark: unescaped(user.Remark),
    maxClients: limit('MaxClientNum', user.MaxClientNum),
    maxTunnels: limit('MaxTunnelNum', user.MaxTunnelNum),
    expiresAt: timeOf(findings, 'ExpireTime', user.ExpireTime),
    createdAt: timeOf(findings, 'CreateTime', user.CreateTime),
    tokenHash: tokenHash.toLowerCase(),
  };
}

/** A record of hosts.json; undefined = it is left out, or has a problem. */
export function convertHost(host: NpsHost, { programDirectory }: RecordRules, findings: RecordFindings): Imported<'host'> | undefined {
  if (leavesOut(host, findings)) return undefined;
  if (host.Id <= 0) findings.problem('Id', 'must be at least 1');
  noteHealth(host, findings);
  const scheme = host.Scheme.trim() === '' ? 'all' : host.Scheme.trim().toLowerCase();
  if (scheme !== 'all' && scheme !== 'http' && scheme !== 'https') {
    findings.problem('Scheme', 'must be all, http or https');
    return undefined;
  }
  const unsupported = (['RespHeaderChange', 'PathRewrite', 'RedirectURL', 'TlsOffload', 'AutoCORS', 'CompatMode', 'TargetIsHttps'] as const)
    .filter((field) => host[field] !== '' && host[field] !== false);
  if (unsupported.length > 0) findings.note(`not carried over, since it has no equivalent: ${unsupported.join(', ')}`);
  const guarded = hasAccounts(host);
  if (guarded) {
    findings.note('imported as stopped: its own accounts (UserAuth, MultiAccount) have no equivalent; set user name and password of the client, then start it');
  }
  const passedThrough = host.HttpsJustProxy;
  const file = (field: string, value: string) => passedThrough ? '' : fileOf(findings, field, value, programDirectory);
  return {
    kind: 'host',
    source: findings.source,
    id: host.Id,
    clientId: host.Client.Id,
    host: unescaped(host.Host),
    location: unescaped(host.Location),
    scheme,
    remark: unescaped(host.Remark),
    targets: targetsOf(host.Target?.TargetStr ?? ''),
    localProxy: host.Target?.LocalProxy ?? false,
    headers: targetLines([unescaped(host.HeaderChange)]),
    hostChange: unescaped(host.HostChange),
    certificate: file('CertFilePath', host.CertFilePath || host.CertFile),
    privateKey: file('KeyFilePath', host.KeyFilePath || host.KeyFile),
    autoHttps: host.AutoHttps && scheme !== 'http',
    acme: host.AutoSSL,
    platformDomainId: host.PlatformDomainID.trim(),
    enabled: !host.IsClose && !guarded,
    inletBytes: bytesOf(findings, 'Flow.InletFlow', host.Flow.InletFlow),
    exportBytes: bytesOf(findings, 'Flow.ExportFlow', host.Flow.ExportFlow),
  };
}

/** Whether a tunnel or host is not imported, although nothing is wrong with it. */
export function leavesOut({ NoStore, Client, Target }: Pick<NpsHost, 'NoStore' | 'Client' | 'Target'>, findings: RecordFindings, needsTarget = true): boolean {
  if (NoStore) findings.leaveOut("comes from an agent's configuration file: it is created when that agent connects");
  else if (Client.Id <= 0) findings.leaveOut('belongs to the hidden client of the server: an agent declares it in its configuration file');
  else if (needsTarget && Target === undefined) findings.leaveOut('has no Target: NPS does not load it either');
  else return false;
  return true;
}

/** Names the health check of a record, which only agents' files can have. */
export function noteHealth(record: Pick<NpsHost, 'HealthCheckInterval' | 'HealthCheckType' | 'HealthCheckTarget'>, findings: RecordFindings): void {
  if (record.HealthCheckInterval === 0 && record.HealthCheckType === '' && record.HealthCheckTarget === '') return;
  findings.note("its health check is not carried over: put it into the agent's configuration file (docs/health.md)");
}

/** Whether a record of the D lineage asks its visitors for accounts of its own. */
export function hasAccounts({ UserAuth, MultiAccount }: Pick<NpsHost, 'UserAuth' | 'MultiAccount'>): boolean {
  const other = typeof UserAuth === 'object'
    ? UserAuth !== null && JSON.stringify(UserAuth).length > '{"Content":""}'.length
    : UserAuth !== undefined && UserAuth !== '';
  return other || MultiAccount.AccountMap.length > 0;
}

/** Targets as lines; one lineage accepts a full-width colon. */
export function targetsOf(text: string): string[] {
  return targetLines([unescaped(text).replaceAll('：', ':')]);
}

/** A counter. */
export function bytesOf(findings: RecordFindings, field: string, value: number): number {
  if (value < 0) findings.problem(field, 'must not be negative');
  return Math.max(0, value);
}

/** Reads limits: negative = unlimited. A limit that nps.conf switches off is unlimited, too. */
function limitOf(findings: RecordFindings) {
  return (field: string, value: number, applies = true, key = ''): number => {
    if (value > largest) findings.problem(field, `must be at most ${largest}`);
    if (value > 0 && !applies) findings.note(`${field} ${value} is not carried over: ${key} is false in nps.conf, so it did not apply`);
    return applies ? Math.min(largest, Math.max(0, value)) : 0;
  };
}

/** A time in ms; null = none: blank, or the zero time of Go. */
function timeOf(findings: RecordFindings, field: string, text: string): number | null {
  if (text.trim() === '' || text.startsWith('0001-01-01')) return null;
  const time = parseExpireTime(text);
  if (time === undefined) findings.problem(field, `${JSON.stringify(text.slice(0, 40))} is not a time such as 2026-12-31 23:59:59`);
  return time?.getTime() ?? null;
}

/** A path as an absolute path; PEM text stays. NPS resolves relative paths from its program's directory. Names a file that is missing. */
export function fileOf(findings: RecordFindings, field: string, text: string, directory: string): string {
  const value = isPem(text) ? text : unescaped(text).trim();
  if (value === '' || isPem(value)) return value;
  const file = path.resolve(directory, value);
  if (!existsSync(file)) findings.note(`${field}: there is no file ${file}: put it there before you start Adit`);
  return file;
}
