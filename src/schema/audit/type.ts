import type { AuditEntry as AuditRow } from '../../store/generated/sqlite/client.ts';
import type { Page } from '../../store/hot/page.ts';
import { builder } from '../builder.ts';
import { stored } from '../values/stored.ts';
import { textOrNull } from '../values/empty.ts';
import { resourceName } from './names.ts';
import { AuditAction, auditActions, AuditResource, auditResources, CallerKind, callerKinds, CallerMethod, callerMethods } from './enums.ts';

/** An entry of the audit log. */
export const AuditEntry = builder.prismaObject('AuditEntry', {
  description: 'A change by a caller or by the server itself.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the entry. Later entries have larger ids.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When the change was made.' }),
    callerKind: t.field({ type: CallerKind, description: 'The kind of caller that made the change.', resolve: (row) => stored(callerKinds, row.callerKind) }),
    callerId: t.exposeID('callerId', {
      nullable: true,
      description: 'The id of the user (USER) or client (CLIENT) that made the change; null for other kinds of callers.',
    }),
    callerName: t.string({
      nullable: true,
      description: 'The current name of the user (USER) or note of the client (CLIENT) that made the change; null = none, or it was deleted.',
      resolve: async ({ callerKind, callerId }, _args, { loaders }) => {
        if (callerId === null) return null;
        if (callerKind === 'user') return (await loaders.users.load(callerId))?.username ?? null;
        return callerKind === 'client' ? textOrNull((await loaders.clients.load(callerId))?.remark ?? '') : null;
      },
    }),
    method: t.field({
      type: CallerMethod,
      nullable: true,
      description: 'How the caller authenticated; null = the caller did not.',
      resolve: ({ method }) => method === '' ? null : stored(callerMethods, method),
    }),
    tokenName: t.string({
      nullable: true,
      description: 'The name of the API token that the caller used, as it was then; null = none, or the token had no name.',
      resolve: ({ tokenName }) => textOrNull(tokenName),
    }),
    address: t.string({ nullable: true, description: 'The address of the caller; null = the server itself.', resolve: ({ address }) => textOrNull(address) }),
    resource: t.field({ type: AuditResource, description: 'The kind of resource that was changed.', resolve: (row) => stored(auditResources, row.resource) }),
    resourceId: t.exposeID('resourceId', {
      description:
        'The id of what was changed. For SESSION, its first characters; for FAILED_ATTEMPT, the name that was tried; for LOCKOUT, its source; for NODE, its name.',
    }),
    resourceName: t.string({
      nullable: true,
      description:
        'What the record was called after the change, or before it was deleted: the name of a user or token, the note of a client or tunnel, the note of a host or else its name; null = it had none.',
      resolve: ({ before, after }) => resourceName(parsed(before), parsed(after)),
    }),
    action: t.field({ type: AuditAction, description: 'The kind of change.', resolve: (row) => stored(auditActions, row.action) }),
    before: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'The record before the change, under the names of the input fields that set it; null = it was created. Values are as stored: 0 or "" = none, lists as one item per line. Secrets are replaced by whether there was one.',
      resolve: ({ before }) => parsed(before),
    }),
    after: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The record after the change, like `before`; null = it was deleted. Secrets are replaced by whether there is one, or a different one.',
      resolve: ({ after }) => parsed(after),
    }),
  }),
});

/** A page of the audit log. */
export const AuditPage = builder.objectRef<Page<AuditRow> & { readonly searchedBackTo?: Date }>('AuditPage').implement({
  description: 'A page of the audit log.',
  fields: (t) => ({
    rows: t.field({ type: [AuditEntry], description: 'The entries, newest first.', resolve: (page) => page.rows }),
    total: t.exposeInt('total', { description: 'The number of entries that match the filter, and were found by the search.' }),
    searchedBackTo: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the oldest entry was written that the search looked at: search further with `filter.to`. Null = it looked at all of them.',
      resolve: ({ searchedBackTo }) => searchedBackTo ?? null,
    }),
  }),
});

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}
