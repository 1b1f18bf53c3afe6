import { builder } from './builder.ts';
import { invalidInput } from './errors.ts';

/** Which way a list is sorted. */
export const SortOrder = builder.enumType('SortOrder', {
  description: 'Which way a list is sorted.',
  values: {
    ASC: { description: 'Smallest first, false before true, letters without regard to case.' },
    DESC: { description: 'The other way round.' },
  },
});

/** How many rows a list of the GraphQL API has. The legacy layer, whose lists have no such limit, asks for them part by part. */
export const rowLimits = {
  /** Without a limit. */
  normal: 50,
  /** The largest limit. */
  most: 200,
} as const;

/** The texts of arguments that all lists have. */
export const pageArgs = {
  search: 'Only records that hold this text, without regard to case, or whose id or port it is.',
  order: 'Which way to sort; without `orderBy` by id.',
  offset: 'How many records to leave out at the beginning; negative counts as 0.',
  limit: `The most records to answer, at most ${rowLimits.most}; 0 or less = none, only the total.`,
} as const;

/**
 * The stretch that a caller asks for, as the lists take it.
 * @throws {AditError} INVALID_INPUT for more rows than a list returns
 */
export function stretchOf(args: { offset?: number | null; limit?: number | null }): { offset: number; limit: number } {
  const limit = args.limit ?? rowLimits.normal;
  if (limit > rowLimits.most) throw invalidInput('limit', `at most ${rowLimits.most} rows at a time, use offset for those after them`, { most: rowLimits.most });
  return { offset: Math.max(0, args.offset ?? 0), limit: Math.max(0, limit) };
}
