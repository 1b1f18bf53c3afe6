import type { Lockout } from '../../rules/attempts.ts';
import type { ApiToken, Client, Host, Session, Tunnel, User } from '../../store/generated/sqlite/client.ts';
import type { ConnectionState, CountedBytes } from '../../engine/face.ts';
import type { Change, FailedAttempt, GlobalState } from '../changes.ts';

/** How a column gets into the audit log: as it is, or only whether it has a value. */
type Shown = 'value' | 'secret';

/*
 * What the log says of a record. A column that is not listed doesn't get in, so a new one can't tell a secret by being forgotten.
 */
const client: Partial<Record<keyof Client, Shown>> = {
  id: 'value', vkey: 'secret', remark: 'value', enabled: 'value', disabledByAdmin: 'value', basicUser: 'value', basicPassword: 'secret', compress: 'value',
  crypt: 'value', configAllowed: 'value', rateLimit: 'value', flowLimit: 'value', maxConnections: 'value', maxTunnels: 'value', webUsername: 'value',
  webPasswordHash: 'secret', blackIpList: 'value', ipWhite: 'value', ipWhitePassword: 'secret', ipWhiteList: 'value', expiresAt: 'value', expired: 'value', userId: 'value',
};
const tunnel: Partial<Record<keyof Tunnel, Shown>> = {
  id: 'value', clientId: 'value', mode: 'value', remark: 'value', port: 'value', serverIp: 'value', target: 'value', localProxy: 'value', password: 'secret',
  localPath: 'value', stripPrefix: 'value', proxyProtocol: 'value', enabled: 'value', noStore: 'value',
};
const host: Partial<Record<keyof Host, Shown>> = {
  id: 'value', clientId: 'value', host: 'value', location: 'value', scheme: 'value', remark: 'value', target: 'value', localProxy: 'value',
  // Headers carry credentials to targets; the two others can be the text of a certificate and its key.
  headerChange: 'secret', hostChange: 'value', keyFilePath: 'secret', certFilePath: 'secret', autoHttps: 'value', acme: 'value', namedByAdmin: 'value', enabled: 'value', noStore: 'value',
  platformDomainId: 'value', platformPrefix: 'value',
};
const user: Partial<Record<keyof User, Shown>> = {
  id: 'value', username: 'value', passwordHash: 'secret', enabled: 'value', remark: 'value', maxClients: 'value', maxTunnels: 'value', expiresAt: 'value',
  expired: 'value',
};
const apiToken: Partial<Record<keyof ApiToken, Shown>> = {
  id: 'value', userId: 'value', name: 'value', hash: 'secret', readOnly: 'value', secrets: 'value', wall: 'value', legacy: 'value', expiresAt: 'value',
};
const platformDomain: Partial<Record<keyof GlobalState['platformDomains'][number], Shown>> = {
  id: 'value', wildcard: 'value', certFilePath: 'secret', keyFilePath: 'secret',
};

const session: Partial<Record<keyof Session, Shown>> = { kind: 'value', userId: 'value', clientId: 'value' };
const connection: Record<keyof ConnectionState, Shown> = {
  id: 'value', clientId: 'value', through: 'value', address: 'value', port: 'value', since: 'value', inletBytes: 'value', exportBytes: 'value', rate: 'value',
};
const lockout: Record<keyof Lockout, Shown> = { credential: 'value', kind: 'value', source: 'value', until: 'value' };
const failedAttempt: Record<keyof FailedAttempt, Shown> = { credential: 'value', name: 'value' };

/** What stands for a secret that is set. */
export const hidden = '(hidden)';
/** What stands for a secret that the change has set to another one. */
export const hiddenNew = '(hidden, changed)';

/** A record as the audit log keeps it. */
export type Masked = Readonly<Record<string, unknown>>;

/** The record before and after a change as the audit log keeps them; null = there was none. */
export function maskedChange(change: Change): { readonly before: Masked | null; readonly after: Masked | null } {
  const before = 'before' in change ? change.before : undefined;
  const after = 'after' in change ? change.after : undefined;
  switch (change.resource) {
    case 'client': return withReset(change, pair(client, before, after));
    case 'tunnel': return withReset(change, pair(tunnel, before, after));
    case 'host': return withReset(change, pair(host, before, after));
    case 'user': return pair(user, before, after);
    case 'apiToken': return pair(apiToken, before, after);
    case 'session': return pair(session, before, after);
    case 'connection': return pair(connection, before, undefined);
    case 'lockout': return pair(lockout, before, after);
    case 'failedAttempt': return pair(failedAttempt, before, after);
    case 'globalSettings': return {
      before: 'before' in change ? globalState(change.before) : null,
      after: 'after' in change ? globalState(change.after, 'before' in change ? change.before : undefined) : null,
    };
  }
}

function pair(columns: Readonly<Record<string, Shown>>, before: object | undefined, after: object | undefined) {
  return { before: before ? masked(columns, before) : null, after: after ? masked(columns, after, before) : null };
}

/** Counters are no settings, and are told only where somebody has reset them. */
function withReset({ reset }: { readonly reset?: CountedBytes }, { before, after }: ReturnType<typeof pair>): ReturnType<typeof pair> {
  return reset === undefined ? { before, after } : { before: { ...before, ...reset }, after: { ...after, inletBytes: 0, exportBytes: 0 } };
}

function globalState(state: GlobalState, before?: GlobalState): Masked {
  return {
    blackIpList: shortened(state.blackIpList),
    serverUrl: state.serverUrl,
    platformDomains: state.platformDomains.map((domain) => masked(platformDomain, domain, before?.platformDomains.find(({ id }) => id === domain.id))),
  };
}

/** The most characters of a value that the log keeps: some lists are far longer. */
const MOST_SHOWN = 16 * 1024;

function shortened(value: unknown): unknown {
  return typeof value === 'string' && value.length > MOST_SHOWN ? `${value.slice(0, MOST_SHOWN)}... (${value.length} characters)` : value;
}

function masked(columns: Readonly<Record<string, Shown>>, row: object, before?: object): Masked {
  const was = new Map<string, unknown>(Object.entries(before ?? {}));
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    if (columns[name] === 'value') shown[name] = shortened(value);
    else if (columns[name] === 'secret') shown[name] = value === '' ? '' : before === undefined || was.get(name) === value ? hidden : hiddenNew;
  }
  return shown;
}
