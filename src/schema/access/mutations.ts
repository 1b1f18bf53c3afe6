import { builder } from '../builder.ts';
import { invalidInput } from '../errors.ts';
import { lineLength } from '../values/input.ts';
import { LockoutKind } from './queries.ts';

builder.mutationField('freeLockout', (t) =>
  t.boolean({
    authScopes: { administrator: true },
    description: 'Ends the lockouts of an address or a name. Returns whether there were any. For administrators.',
    args: {
      kind: t.arg({ type: LockoutKind, required: true, description: 'Whether it is an address or a name.' }),
      source: t.arg.string({ required: true, description: 'The `source` as returned by `lockouts`.' }),
    },
    resolve: (_root, lockout, context) => {
      // The other servers are notified, in a message of limited size. A name that was guessed may hold a NUL character, so textOf would refuse too much.
      if (lockout.source.length > lineLength) throw invalidInput('source', `longer than ${lineLength} characters`, { most: lineLength });
      return context.write(async (_tx, changed) => {
        const ended = context.attempts.free(lockout, context.now());
        for (const before of ended) changed({ resource: 'lockout', action: 'delete', before });
        return ended.length > 0;
      });
    },
  }));
