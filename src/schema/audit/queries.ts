import { builder } from '../builder.ts';
import { pageArgs, rowLimits, stretchOf } from '../page.ts';
import { AuditPage } from './type.ts';
import { idOf } from '../ids.ts';
import { AuditAction, AuditResource, CallerKind } from './enums.ts';

builder.queryFields((t) => ({
  auditEntries: t.field({
    type: AuditPage,
    authScopes: { administrator: true },
    description: 'Who changed what, the newest first.',
    args: {
      resource: t.arg({ type: AuditResource, description: 'Only changes of this kind.' }),
      resourceId: t.arg.id({ description: 'Only changes of the record with this id.' }),
      action: t.arg({ type: AuditAction, description: 'Only changes of this action.' }),
      callerKind: t.arg({ type: CallerKind, description: 'Only changes by such callers.' }),
      callerId: t.arg.id({ description: 'Only changes by the user or client with this id.' }),
      from: t.arg({ type: 'DateTime', description: 'Only changes since then.' }),
      to: t.arg({ type: 'DateTime', description: 'Only changes before then.' }),
      offset: t.arg.int({ defaultValue: 0, description: 'How many entries to leave out at the beginning.' }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: (_root, args, { store }) => store.auditPage({
      resource: args.resource ?? undefined,
      resourceId: args.resourceId ?? undefined,
      action: args.action ?? undefined,
      callerKind: args.callerKind ?? undefined,
      callerId: idOf('callerId', args.callerId) ?? undefined,
      from: args.from ?? undefined,
      to: args.to ?? undefined,
      ...stretchOf(args),
    }),
  }),
}));
