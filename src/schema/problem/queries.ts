import { builder } from '../builder.ts';
import { pageArgs, pageRange, rowLimits } from '../lists/page.ts';
import { ProblemPageType } from './type.ts';

builder.queryField('problems', (t) =>
  t.field({
    type: ProblemPageType,
    authScopes: { clientLogin: true },
    description:
      'What is wrong with the records that the caller may see, why, and how to fix it. Expiries count 7 days before and after, certificates 15 days before. '
      + 'Agents and tunnels are at most 7 seconds old, certificates and health checks 40, usage a minute.',
    args: {
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: (_root, args, context) => context.problems.page(context.caller, pageRange(args)),
  }));

builder.subscriptionField('problemsChanged', (t) =>
  t.field({
    type: ProblemPageType,
    authScopes: { clientLogin: true },
    description: 'The beginning of `problems`: at once, and whenever it has changed.',
    args: { limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }) },
    subscribe: (_root, { limit }, context) => {
      const range = pageRange({ limit });
      return context.live.whenChanged(context.caller, () => context.problems.page(context.caller, range));
    },
    resolve: (page) => page,
  }));
