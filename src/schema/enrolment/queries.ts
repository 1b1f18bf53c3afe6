import { mayUseClient } from '../../rules/ownership.ts';
import { builder } from '../builder.ts';
import { idOf } from '../values/ids.ts';
import { Enrolment } from './type.ts';
import { most } from './write.ts';

builder.queryField('enrolments', (t) =>
  t.field({
    type: [Enrolment],
    nullable: true,
    authScopes: { user: true },
    extensions: { items: most.kept },
    description:
      'The codes that install agents of a client, newest first, with the last of those that were used or have expired. Null if there is no such client.',
    args: { clientId: t.arg.id({ required: true, description: "The client's id." }) },
    resolve: async (_root, args, context) => {
      const clientId = idOf('clientId', args.clientId);
      const client = await context.loaders.clients.load(clientId);
      if (client === undefined || !mayUseClient(context.caller, client)) return null;
      return context.store.db.enrolment.findMany({ where: { clientId }, orderBy: { id: 'desc' }, take: most.kept });
    },
  }));
