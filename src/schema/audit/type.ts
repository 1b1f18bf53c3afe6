import type { AuditEntry as AuditRow } from '../../store/generated/sqlite/client.ts';
import type { Page } from '../../store/hot/page.ts';
import { builder } from '../builder.ts';
import { stored } from '../values/stored.ts';
import { textOrNull } from '../values/empty.ts';
import { AuditAction, auditActions, AuditResource, auditResources, CallerKind, callerKinds, CallerMethod, callerMethods } from './enums.ts';

/** An entry of the audit log. */
export const AuditEntry = builder.prismaObject('AuditEntry', {
  description: 'A change by a caller or by the server itself.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Later entries have larger ids.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
    callerKind: t.field({ type: CallerKind, description: 'Who made it.', resolve: (row) => stored(callerKinds, row.callerKind) }),
    callerId: t.exposeID('callerId', { nullable: true, description: "The id of the user (USER) or client (CLIENT) that made it; null = another kind of caller." }),
    method: t.field({ type: CallerMethod, nullable: true, description: 'How the caller had proven who they are; null = not at all.', resolve: ({ method }) => method === '' ? null : stored(callerMethods, method) }),
    address: t.string({ nullable: true, description: 'The address that the call came from; null = from the server itself.', resolve: ({ address }) => textOrNull(address) }),
    resource: t.field({ type: AuditResource, description: 'What kind of thing was changed.', resolve: (row) => stored(auditResources, row.resource) }),
    resourceId: t.exposeID('resourceId', { description: 'The id of what was changed: of a SESSION its first characters, of a FAILED_ATTEMPT the name that was tried, of a LOCKOUT its source.' }),
    action: t.field({ type: AuditAction, description: 'What happened to it.', resolve: (row) => stored(auditActions, row.action) }),
    before: t.field({ type: 'JSON', nullable: true, description: 'The columns of the record before; null = it was made. Of a secret it only says that there was one.', resolve: ({ before }) => parsed(before) }),
    after: t.field({ type: 'JSON', nullable: true, description: 'The columns of the record after; null = it was deleted. Of a secret it only says that there is one, or another one.', resolve: ({ after }) => parsed(after) }),
  }),
});

/** A page of the audit log. */
export const AuditPage = builder.objectRef<Page<AuditRow>>('AuditPage').implement({
  description: 'A page of the audit log.',
  fields: (t) => ({
    rows: t.field({ type: [AuditEntry], description: 'The entries, the newest first.', resolve: (page) => page.rows }),
    total: t.exposeInt('total', { description: 'How many entries the whole selection has.' }),
  }),
});

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}
