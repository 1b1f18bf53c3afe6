import type { Lockout } from '../../rules/attempts.ts';
import type { ApiToken, Enrolment, PlatformDomain } from '../../store/generated/sqlite/client.ts';
import type { ConnectionState, CountedBytes } from '../../engine/face.ts';
import type { NewAuditEntry } from '../../store/audit.ts';
import { columnsOfClient } from '../client/columns.ts';
import { columnsOfHost } from '../host/columns.ts';
import { columnsOfTunnel } from '../tunnel/columns.ts';
import { columnsOfUser } from '../user/columns.ts';
import type { ColumnUse } from '../values/columns.ts';
import type { AuditedKey, AuditedNode, AuditedOrder, AuditedSession, Change, FailedAttempt, GlobalState } from '../writes/changes.ts';

/** How the audit log shows each column of a record: under the name of the field that sets it, or else of the column. */
type Audited = Readonly<Record<string, Pick<ColumnUse, 'audit'> & Partial<Pick<ColumnUse, 'input'>>>>;

const [value, secret, none] = [{ audit: 'value' }, { audit: 'secret' }, { audit: 'none' }] as const;

/*
 * How the log shows records without a table of columns. A column that is not listed is not logged, so a new secret can't leak by
 * accident; the compiler requires an entry for every column.
 */
const apiToken = {
  id: value,
  userId: value,
  name: value,
  hash: secret,
  readOnly: value,
  secrets: value,
  wall: value,
  legacy: value,
  expiresAt: value,
  createdAt: none,
  lastUsedAt: none,
} satisfies Record<keyof ApiToken, Audited[string]>;
const enrolment = {
  id: value,
  clientId: value,
  hash: secret,
  expiresAt: value,
  createdAt: none,
  usedAt: value,
  usedFrom: value,
  machine: secret,
} satisfies Record<keyof Enrolment, Audited[string]>;
const platformDomain = {
  id: value,
  wildcard: value,
  certFilePath: { ...secret, input: 'certificatePath' },
  keyFilePath: { ...secret, input: 'privateKeyPath' },
} satisfies Record<keyof PlatformDomain, Audited[string]>;
const session = { id: none, kind: value, userId: value, clientId: value } satisfies Record<keyof AuditedSession, Audited[string]>;
const node = { name: value, draining: value } satisfies Record<keyof AuditedNode, Audited[string]>;
const acmeOrder = { id: value, host: value } satisfies Record<keyof AuditedOrder, Audited[string]>;
const installationKey = { id: none, changing: value } satisfies Record<keyof AuditedKey, Audited[string]>;
const connection = {
  id: value,
  clientId: value,
  through: value,
  address: value,
  port: value,
  since: value,
  inletBytes: value,
  exportBytes: value,
  rate: value,
} satisfies Record<keyof ConnectionState, Audited[string]>;
const lockout = { credential: value, kind: value, source: value, until: value } satisfies Record<keyof Lockout, Audited[string]>;
const failedAttempt = { credential: value, name: value } satisfies Record<keyof FailedAttempt, Audited[string]>;

/** The placeholder of a secret that is set. */
export const hidden = '(hidden)';
/** The placeholder of a secret that the change replaced. */
export const hiddenNew = '(hidden, changed)';

/** A record in the form of the audit log. */
type Masked = Readonly<Record<string, unknown>>;

/** The record before and after a change, in the form of the audit log; null = it did not exist. */
function maskedChange(change: Change): { readonly before: Masked | null; readonly after: Masked | null } {
  const before = 'before' in change ? change.before : undefined;
  const after = 'after' in change ? change.after : undefined;
  switch (change.resource) {
    case 'client':
      return withReset(change, pair(columnsOfClient, before, after));
    case 'tunnel':
      return withReset(change, pair(columnsOfTunnel, before, after));
    case 'host':
      return withReset(change, pair(columnsOfHost, before, after));
    case 'user':
      return pair(columnsOfUser, before, after);
    case 'apiToken':
      return pair(apiToken, before, after);
    case 'enrolment':
      return pair(enrolment, before, after);
    case 'session':
      return pair(session, before, after);
    case 'node':
      return pair(node, before, after);
    case 'acmeOrder':
      return pair(acmeOrder, undefined, after);
    case 'installationKey':
      return pair(installationKey, before, after);
    case 'connection':
      return pair(connection, before, undefined);
    case 'lockout':
      return pair(lockout, before, after);
    case 'failedAttempt':
      return pair(failedAttempt, before, after);
    case 'import':
      return { before: null, after: { ...change.after } };
    case 'globalSettings':
      return {
        before: 'before' in change ? globalState(change.before) : null,
        after: 'after' in change ? globalState(change.after, 'before' in change ? change.before : undefined) : null,
      };
  }
}

function pair(columns: Audited, before: object | undefined, after: object | undefined) {
  return { before: before ? masked(columns, before) : null, after: after ? masked(columns, after, before) : null };
}

/** Counters are not settings; an entry includes them only if they were reset. */
function withReset({ reset }: { readonly reset?: CountedBytes }, { before, after }: ReturnType<typeof pair>): ReturnType<typeof pair> {
  return reset === undefined ? { before, after } : { before: { ...before, ...reset }, after: { ...after, inletBytes: 0, exportBytes: 0 } };
}

function globalState(state: GlobalState, before?: GlobalState): Masked {
  return {
    blocklist: shortened(state.blackIpList),
    serverUrl: state.serverUrl,
    platformDomains: state.platformDomains.map((domain) => masked(platformDomain, domain, before?.platformDomains.find(({ id }) => id === domain.id))),
  };
}

/** Maximum length of a value in the log, in characters: some lists are far longer. */
const MOST_SHOWN = 16 * 1024;

function shortened(value: unknown): unknown {
  return typeof value === 'string' && value.length > MOST_SHOWN ? `${value.slice(0, MOST_SHOWN)}... (${value.length} characters)` : value;
}

function masked(columns: Audited, row: object, before?: object): Masked {
  const was = new Map<string, unknown>(Object.entries(before ?? {}));
  const shown: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    const use = columns[column];
    const name = use?.input ?? column;
    if (use?.audit === 'value') shown[name] = shortened(value);
    else if (use?.audit === 'secret') shown[name] = value === '' ? '' : before === undefined || was.get(column) === value ? hidden : hiddenNew;
  }
  return shown;
}

/** The audit entry of a change. */
export function auditEntry(change: Change): NewAuditEntry {
  const { caller, at, resource, action } = change;
  const { before, after } = maskedChange(change);
  return {
    at,
    callerKind: caller.kind,
    callerId: caller.kind === 'user' ? caller.userId : caller.kind === 'client' ? caller.clientId : null,
    method: caller.by ?? '',
    tokenName: caller.tokenName ?? '',
    address: caller.address ?? '',
    resource,
    resourceId: idOf(change).replaceAll('\0', '\uFFFD'), // a guess may contain NUL, which PostgreSQL can't store
    action,
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
  };
}

/** Logged prefix of a session's id: enough to match a logout with its login. */
const sessionIdLength = 12;

function idOf(change: Change): string {
  if (change.resource === 'failedAttempt' || change.resource === 'node') return change.after.name;
  if (change.resource === 'lockout') return (change.action === 'delete' ? change.before : change.after).source;
  const { id } = change.action === 'delete' ? change.before : change.after;
  return change.resource === 'session' ? String(id).slice(0, sessionIdLength) : String(id);
}
