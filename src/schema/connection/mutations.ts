import { usableClient } from '../access/records.ts';
import { builder } from '../builder.ts';
import { AditError } from '../errors.ts';
import { idOf } from '../values/ids.ts';

const clientId = { required: true, description: "The client's id." } as const;

builder.mutationField('closeConnection', (t) =>
  t.id({
    authScopes: { clientLogin: true },
    description: "Closes an open connection of a client's visitor. Returns the id.",
    args: { clientId: t.arg.id(clientId), id: t.arg.id({ required: true, description: "The connection's id." }) },
    resolve: (_root, args, context) =>
      context.write(async (tx, changed) => {
        const client = idOf('clientId', args.clientId);
        await usableClient(context, tx, client);
        const before = await context.engine.closeConnection(client, idOf('id', args.id));
        if (!before) throw new AditError('NOT_FOUND', { resource: 'connection' });
        changed({ resource: 'connection', action: 'delete', before });
        return args.id;
      }),
  }));
