import { builder } from './builder.ts';

/** Which way a list is sorted. */
export const SortOrder = builder.enumType('SortOrder', {
  description: 'Which way a list is sorted.',
  values: {
    ASC: { description: 'Smallest first, false before true, letters without regard to case.' },
    DESC: { description: 'The other way round.' },
  },
});

/** The texts of arguments that all lists have. */
export const pageArgs = {
  search: 'Only records that hold this text, without regard to case, or whose id or port it is.',
  order: 'Which way to sort; without `orderBy` by id.',
  offset: 'How many records to leave out at the beginning; negative counts as 0.',
  limit: 'The most records to answer; absent = all, 0 or less = none, only the total.',
} as const;

/**
 * The stretch that a caller asks for, as the lists take it (contract 2.1, D4).
 * @returns limit undefined = all
 */
export function stretchOf(args: { offset?: number | null; limit?: number | null }): { offset: number; limit: number | undefined } {
  return { offset: Math.max(0, args.offset ?? 0), limit: args.limit === null || args.limit === undefined ? undefined : Math.max(0, args.limit) };
}
