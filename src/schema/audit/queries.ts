import { builder } from '../builder.ts';
import { pageArgs, rowLimits, pageRange } from '../lists/page.ts';
import { AuditPage } from './type.ts';
import { idOf } from '../values/ids.ts';
import { textOf } from '../values/input.ts';
import { AuditAction, AuditResource, CallerKind } from './enums.ts';

const AuditFilter = builder.inputType('AuditEntryFilter', {
  description: 'Selects entries that meet all conditions. A condition that is absent or null has no effect.',
  fields: (t) => ({
    resource: t.field({ type: AuditResource, extensions: { indexed: true }, description: 'Only changes of this kind of resource.' }),
    resourceId: t.id({ extensions: { indexed: true }, description: 'Only changes of the record with this id.' }),
    action: t.field({ type: AuditAction, extensions: { indexed: true }, description: 'Only changes of this action.' }),
    callerKind: t.field({ type: CallerKind, extensions: { indexed: true }, description: 'Only changes by callers of this kind.' }),
    callerId: t.id({ extensions: { indexed: true }, description: 'Only changes by the user or client with this id.' }),
    from: t.field({ type: 'DateTime', extensions: { indexed: true }, description: 'Only changes at or after this time.' }),
    beforeId: t.id({
      extensions: { indexed: true },
      description: 'Only entries that are older than the one with this id. Pages of a growing log do not shift if each begins with the id of the last entry.',
    }),
    to: t.field({ type: 'DateTime', extensions: { indexed: true }, description: 'Only changes before this time.' }),
  }),
});

builder.queryFields((t) => ({
  auditEntries: t.field({
    type: AuditPage,
    nullable: true,
    authScopes: { administrator: true },
    description: 'The audit log: who changed what, newest first. For administrators.',
    args: {
      filter: t.arg({ type: AuditFilter, description: 'Only entries that meet all conditions.' }),
      search: t.arg.string({
        description:
          'Only entries that contain this text (case-insensitive) in the address, the name of the token, the id of the record, or its values. Of those that meet the filter, the newest 100,000 are searched, for about 2 seconds.',
      }),
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: (_root, { filter, search, ...range }, context) => {
      const query = {
        resource: filter?.resource ?? undefined,
        resourceId: textOf('filter.resourceId', filter?.resourceId),
        action: filter?.action ?? undefined,
        callerKind: filter?.callerKind ?? undefined,
        callerId: idOf('filter.callerId', filter?.callerId) ?? undefined,
        from: filter?.from ?? undefined,
        to: filter?.to ?? undefined,
        beforeId: idOf('filter.beforeId', filter?.beforeId) ?? undefined,
        ...pageRange(range),
      };
      const text = textOf('search', search);
      return text ? context.search(() => context.store.auditPage({ ...query, search: text })) : context.store.auditPage(query);
    },
  }),
}));
