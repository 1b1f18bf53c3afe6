import { invalidParameter } from './errors.ts';
import { about, booleans, forAdministrators, integerLimit, integerOf, type Parameter, textsOf } from './parameters.ts';

const strictFilter: Parameter<number | undefined> = {
  kind: 'id',
  read: (value, name) => {
    if (value === undefined || value.trim() === '') return undefined;
    const number = integerOf(value);
    if (number === undefined || number < 0 || number > integerLimit) throw invalidParameter(name);
    return number;
  },
};

/** Parameters of lists: invalid values count as absent (contract D31, 2.1). */
export const listing = {
  /** Row offset; negative = 0. */
  offset: about('The number of rows to skip.', tolerant<number | undefined>('integer', (value) => clamped(integerOf(value)))),
  /** Absent, blank = all rows; 0 and negative = none (contract D4). */
  limit: about(
    'The maximum number of rows to return; absent = all, 0 = only the total.',
    tolerant<number | undefined>('integer', (value) => clamped(integerOf(value))),
  ),
  /** Filter by a record's id; 0 = any. */
  filter: about(
    'Only those of this client; 0 = all.',
    tolerant<number | undefined>('integer', (value) => clamped(integerOf(value), -integerLimit) || undefined),
  ),
  /** A filter by id, including 0; blank = any. An invalid value is refused, since ignoring it would widen the list (contract 2.1). */
  strictFilter,
  /** An administrator's filter by the owner. */
  owner: forAdministrators(about("Only records that belong to this user's clients; 0 = only those of clients without an owner.", strictFilter)),
  /** Only the records of clients without an owner. */
  unassigned: forAdministrators(
    about('Only records of clients without an owner.', tolerant<boolean | undefined>('boolean', (value) => booleans.get(value.trim()))),
  ),
  /** Text to search for; blank = any. */
  search: about(
    'Only records that contain this text (case-insensitive), or whose id or port equals it.',
    tolerant<string | undefined>('text', (value) => value === '' ? undefined : value),
  ),
  /** Descending only for "desc", case-insensitive. */
  order: {
    ...tolerant<'ASC' | 'DESC'>('choice', (value) => value.trim().toLowerCase() === 'desc' ? 'DESC' : 'ASC'),
    choices: ['asc', 'desc'],
    description: 'The direction.',
  },
} satisfies Record<string, Parameter<unknown>>;

/** The filter of a list by owner and other conditions; undefined = no filter, so nothing is checked. */
export function listFilter<Others extends object>(
  { user_id: ownerId, unassigned }: OwnerValues,
  others?: Others,
): OwnerFilter | (OwnerFilter & Others) | undefined {
  // user_id 0 means records without an owner, and so does unassigned, with any user_id (contract 2.1).
  const owner: OwnerFilter | undefined = unassigned === true || ownerId === 0 ? { unassigned: true } : ownerId === undefined ? undefined : { ownerId };
  return others === undefined || Object.values(others).every((value) => value === undefined) ? owner : { ...owner, ...others };
}

interface OwnerValues {
  readonly user_id: number | undefined;
  readonly unassigned: boolean | undefined;
}

/** The filters by owner that all lists have. */
interface OwnerFilter {
  readonly ownerId?: number;
  readonly unassigned?: boolean;
}

/** The sort order of a list; without a known field by id, ascending, whatever `order` is (contract 2.1). */
export function sorting<Field extends string>(
  field: Field | undefined,
  direction: 'ASC' | 'DESC',
): { readonly field: Field; readonly direction: 'ASC' | 'DESC' } | undefined {
  return field && { field, direction };
}

/** The sort field; an unknown one counts as absent, which means by id, ascending (contract 2.1). */
export function sort<const T extends string>(names: Readonly<Record<string, T>>): Parameter<T | undefined> {
  const known = new Map(Object.entries(names));
  return { ...tolerant('choice', (value) => known.get(value.trim())), choices: textsOf(known), description: 'The field to sort by; absent = the id.' };
}

function tolerant<T>(kind: Parameter<T>['kind'], read: (text: string) => T): Parameter<T> {
  return { kind, read: (value) => read(value ?? '') };
}

function clamped(value: number | undefined, least = 0): number | undefined {
  return value === undefined ? undefined : Math.min(Math.max(value, least), integerLimit);
}
