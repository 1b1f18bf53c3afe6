import { builder } from '../builder.ts';
import { LockoutKind } from './queries.ts';

builder.mutationField('freeLockout', (t) => t.boolean({
  authScopes: { administrator: true },
  description: 'Lets an address or a name try everything again at once. Answers whether it had to wait. For administrators.',
  args: {
    kind: t.arg({ type: LockoutKind, required: true, description: 'What it is.' }),
    source: t.arg.string({ required: true, description: 'As it is listed.' }),
  },
  resolve: (_root, lockout, context) => context.write(async (_tx, changed) => {
    const ended = context.attempts.free(lockout, context.now());
    for (const before of ended) changed({ resource: 'lockout', action: 'delete', before });
    return ended.length > 0;
  }),
}));
