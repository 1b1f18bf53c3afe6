import { builder } from '../builder.ts';
import { pageArgs, rowLimits, stretchOf } from '../page.ts';
import { AuditPage } from './type.ts';
import { idOf } from '../ids.ts';

builder.queryFields((t) => ({
  auditEntries: t.field({
    type: AuditPage,
    authScopes: { administrator: true },
    description: 'Who changed what, the newest first.',
    args: {
      resource: t.arg.string({ description: 'Only changes of this kind of record: client, tunnel, host, user, apiToken, globalSettings, session, failedAttempt, lockout or connection.' }),
      resourceId: t.arg.id({ description: 'Only changes of the record with this id.' }),
      action: t.arg.string({ description: 'Only create, update or delete.' }),
      callerKind: t.arg.string({ description: 'Only changes by admin, user, client, anonymous or server.' }),
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
