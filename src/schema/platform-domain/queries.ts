import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { countOf } from '../lists/list.ts';
import { pageArgs } from '../lists/page.ts';
import { certificateState } from './certificate-rules.ts';
import { type CountedDomain, PlatformDomain } from './type.ts';

/** All platform domains, by name. */
export function allPlatformDomains({ store }: Context): Promise<CountedDomain[]> {
  return store.db.platformDomain.findMany({ orderBy: { wildcard: 'asc' }, include: { _count: { select: { hosts: true } } } });
}

const PlatformDomainFilter = builder.inputType('PlatformDomainFilter', {
  description: 'Selects platform domains that meet all conditions. A condition that is absent or null has no effect.',
  fields: (t) => ({
    certificateDaysRemainingBelow: t.int({
      description:
        'Only those whose `certificate` expires in fewer than this number of days, including expired ones. At least 1. Administrators only; other callers get an error.',
    }),
  }),
});

builder.queryFields((t) => ({
  platformDomains: t.field({
    type: [PlatformDomain],
    authScopes: { clientLogin: true },
    description: 'The platform domains, sorted by name.',
    args: { filter: t.arg({ type: PlatformDomainFilter, description: pageArgs.filter }) },
    resolve: async (_root, { filter }, context) => {
      const days = countOf('filter.certificateDaysRemainingBelow', filter?.certificateDaysRemainingBelow, 1);
      const all = await allPlatformDomains(context);
      if (days === undefined) return all;
      if (context.caller.kind !== 'admin') throw new AditError('FORBIDDEN');
      const states = await Promise.all(all.map((row) => certificateState(row)));
      return all.filter((_row, index) => {
        const { expiresAt = null, daysRemaining = 0 } = states[index] ?? {};
        return expiresAt !== null && daysRemaining < days;
      });
    },
  }),
}));
