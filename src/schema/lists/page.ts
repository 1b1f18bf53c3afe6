import { builder } from '../builder.ts';
import { invalidInput } from '../errors.ts';

/** The direction of a sort order. */
export const SortDirection = builder.enumType('SortDirection', {
  description: 'The direction of a sort.',
  values: {
    ASC: { description: 'Ascending: false before true; case-insensitive.' },
    DESC: { description: 'Descending.' },
  },
});

/** The sort order of a list. */
export interface Sort<Field extends string> {
  readonly field: Field;
  readonly direction: 'ASC' | 'DESC';
}

/** The descriptions of the fields of a sort input. */
export const sortFields = { field: 'The field to sort by. Records with equal values are sorted by id.', direction: 'The direction.' } as const;

/** The sort order in the form of the store; absent = by id. */
export function sortOf<Field extends string>(sort: Sort<Field> | null | undefined): { orderBy?: Field; desc?: boolean } {
  return sort ? { orderBy: sort.field, desc: sort.direction === 'DESC' } : {};
}

/** Page sizes of GraphQL lists. The legacy layer, whose lists have no such limit, reads them in parts. */
export const rowLimits = {
  /** The default. */
  normal: 50,
  /** The maximum. */
  most: 200,
} as const;

/** The descriptions of the arguments that all lists have. */
export const pageArgs = {
  search: 'Only records that contain this text (case-insensitive), or whose id equals it.',
  filter: 'Only records that meet all conditions.',
  sort: 'The order; absent = by id, ascending.',
  offset: 'The number of records to skip. Negative values count as 0.',
  limit: `The maximum number of records to return, at most ${rowLimits.most}. 0 returns only the total. Negative values count as 0.`,
} as const;

/**
 * The requested range of rows.
 * @throws {AditError} INVALID_INPUT if the limit is too large
 */
export function pageRange(args: { offset?: number | null; limit?: number | null }): { offset: number; limit: number } {
  const limit = args.limit ?? rowLimits.normal;
  if (limit > rowLimits.most) {
    throw invalidInput('limit', `at most ${rowLimits.most} rows at a time, use offset for those after them`, { most: rowLimits.most });
  }
  return { offset: Math.max(0, args.offset ?? 0), limit: Math.max(0, limit) };
}
