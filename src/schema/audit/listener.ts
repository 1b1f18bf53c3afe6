import type { AuditEntry } from '../../store/generated/sqlite/client.ts';
import type { Store } from '../../store/store.ts';
import type { Change, ChangeListener } from '../changes.ts';
import { maskedChange } from './masked.ts';

/**
 * The listener that writes the audit log. It writes right after the change was committed, not in its transaction: one place sees
 * every change with all that is to be said of it, no mutation has to think of it, and the caller gets an answer only when the
 * entry is stored, so every acknowledged change has one. What a crash between the two commits can lose is an entry for a change
 * that nobody was told of.
 * @param written is told of every entry
 */
export function auditChanges(store: Store, written: (entry: AuditEntry) => void): ChangeListener {
  return async (change) => {
    const { caller, at, resource, action } = change;
    const { before, after } = maskedChange(change);
    written(await store.addAuditEntry({
      at,
      callerKind: caller.kind,
      callerId: caller.kind === 'user' ? caller.userId : caller.kind === 'client' ? caller.clientId : null,
      method: caller.by ?? '',
      address: caller.address ?? '',
      resource,
      resourceId: idOf(change),
      action,
      before: before && JSON.stringify(before),
      after: after && JSON.stringify(after),
    }));
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
