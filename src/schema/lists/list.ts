import type { OwnerFilter } from '../../store/hot/filters.ts';
import { listScope } from '../access/records.ts';
import { seesSecrets } from '../access/secret-field.ts';
import type { Context } from '../context.ts';
import { AditError, invalidInput } from '../errors.ts';
import { idOf } from '../values/ids.ts';
import { type Sort, sortOf, pageRange } from './page.ts';

/** The conditions that the filters of clients, tunnels and hosts share. */
interface OwnedFilter {
  readonly clientId?: string | null;
  readonly ownerId?: string | null;
  readonly unassigned?: boolean | null;
}

/** The arguments that the lists of clients, tunnels and hosts share. */
interface ListArgs<Field extends string> {
  readonly filter?: OwnedFilter | null;
  readonly search?: string | null;
  readonly sort?: Sort<Field> | null;
  readonly offset?: number | null;
  readonly limit?: number | null;
}

/** The description of the condition for records with problems. */
export const withProblemsField = 'True = only those that `problems` names. False has no effect.';

/** The descriptions of the conditions for administrators. */
export const ownerFields = {
  ownerId: "Only records that belong to this user's clients. Administrators only; other callers get an error.",
  unassigned: 'True = only records of clients without an owner, false = only those with an owner. Administrators only; other callers get an error.',
} as const;

/** Fields that come from the engine; for sorting and filtering, its state is saved first. */
const running: ReadonlySet<string> = new Set([
  'CONNECTED',
  'RUNNING',
  'ADDRESS',
  'LOCAL_ADDRESS',
  'VERSION',
  'INLET_BYTES',
  'EXPORT_BYTES',
  'RATE',
  'LAST_ONLINE_AT',
  'CONNECTIONS',
  'FLOW_USED',
  'PROBLEMS',
  'connected',
  'running',
  'serving',
  'usageAbovePercent',
  'withProblems',
]);

/** Secret fields. The position of a record in a list sorted by a secret would reveal the secret bit by bit. */
const secretFields: ReadonlySet<string> = new Set(['VERIFY_KEY', 'PASSWORD']);

/**
 * The query for the store (contract 2.1): the caller's records in the requested order. Running state is at most one second old.
 * Callers who may not see secrets can neither search nor sort by them.
 * @throws {AditError} FORBIDDEN for a client that isn't the caller's, for a filter by owner unless the caller is an administrator, and for such a sort order; INVALID_INPUT for too many rows
 */
export async function listQuery<Field extends string>(context: Context, { filter, search, sort, ...range }: ListArgs<Field>) {
  const withoutSecrets = !seesSecrets(context.caller);
  if (withoutSecrets && sort && secretFields.has(sort.field)) throw new AditError('FORBIDDEN');
  const scope = await listScope(context, idOf('filter.clientId', filter?.clientId));
  if ((sort && running.has(sort.field)) || (filter && Object.entries(filter).some(([name, value]) => running.has(name) && value !== null))) {
    await context.freshState();
  }
  return { ...filter ? ownerFilter(context, filter) : undefined, ...scope, search: search ?? undefined, withoutSecrets, ...sortOf(sort), ...pageRange(range) };
}

/**
 * `ownerId` together with `unassigned` matches no record; no record has the id 0.
 * @throws {AditError} FORBIDDEN unless the caller is an administrator
 */
function ownerFilter({ caller }: Context, { ownerId, unassigned }: OwnedFilter): { ownerId?: OwnerFilter } {
  const id = idOf('filter.ownerId', ownerId) ?? undefined;
  const given = id !== undefined || typeof unassigned === 'boolean';
  if (caller.kind !== 'admin' && given) throw new AditError('FORBIDDEN');
  if (unassigned === true) return { ownerId: id === undefined ? null : 0 };
  return { ownerId: id };
}

/** Whether a filter selects records with an owner; undefined = no such filter. */
export function ownedOnly({ unassigned }: OwnedFilter): true | undefined {
  return unassigned === false ? true : undefined;
}

/** A percentage or number of days in a filter. @throws {AditError} INVALID_INPUT below `least` */
export function countOf(field: string, value: number | null | undefined, least = 0): number | undefined {
  if (typeof value === 'number' && value < least) throw invalidInput(field, `less than ${least}`, { least });
  return value ?? undefined;
}
