import type { NewAuditEntry } from '../../store/audit.ts';
import type { Change } from '../changes.ts';
import { maskedChange } from './masked.ts';

/** What the audit log says of a change. */
export function auditEntry(change: Change): NewAuditEntry {
  const { caller, at, resource, action } = change;
  const { before, after } = maskedChange(change);
  return {
    at,
    callerKind: caller.kind,
    callerId: caller.kind === 'user' ? caller.userId : caller.kind === 'client' ? caller.clientId : null,
    method: caller.by ?? '',
    address: caller.address ?? '',
    resource,
    resourceId: idOf(change).replaceAll('\0', '\uFFFD'), // a stranger's guess may hold one, and PostgreSQL stores none
    action,
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
  };
}

/** Beginning of a session's id: enough to tell which login a logout ends. */
const sessionIdLength = 12;

function idOf(change: Change): string {
  if (change.resource === 'failedAttempt') return change.after.name;
  if (change.resource === 'lockout') return (change.action === 'delete' ? change.before : change.after).source;
  const { id } = change.action === 'delete' ? change.before : change.after;
  return change.resource === 'session' ? String(id).slice(0, sessionIdLength) : String(id);
}
