import type { Caller } from '../rules/caller.ts';
import type { OwnerFilter } from '../store/hot/filters.ts';
import { listScope } from './access.ts';
import { seesSecrets } from './access/secret-field.ts';
import type { Context } from './context.ts';
import { AditError } from './errors.ts';
import { stretchOf } from './page.ts';
import { idOf } from './ids.ts';

/** What every list of clients, tunnels or hosts can be asked for. */
interface ListArgs<Order extends string> {
  readonly clientId?: string | null;
  readonly ownerId?: string | null;
  readonly unassigned?: boolean | null;
  readonly search?: string | null;
  readonly orderBy?: Order | null;
  readonly order?: 'ASC' | 'DESC' | null;
  readonly offset?: number | null;
  readonly limit?: number | null;
}

/** The texts of the arguments by which administrators filter. */
export const ownerArgs = {
  ownerId: 'Only what belongs to the clients of this user. For administrators: others get what is theirs in any case.',
  unassigned: 'Only what belongs to clients that nobody owns. For administrators.',
} as const;

/** Orders by what the engine says: the store has it when it was saved. */
const runningOrders: ReadonlySet<string> = new Set([
  'CONNECTED', 'RUNNING', 'ADDRESS', 'LOCAL_ADDRESS', 'VERSION', 'INLET_BYTES', 'EXPORT_BYTES', 'RATE',
]);

/** Orders by a secret: where a record stands would tell it, bit by bit. */
const secretOrders: ReadonlySet<string> = new Set(['VERIFY_KEY', 'PASSWORD']);

/**
 * What the store is asked for (contract 2.1): what is the caller's, in the order that is wanted. An order by running state is that of
 * at most a second ago. Secrets are neither searched nor sorted by for callers who do not see them.
 * @throws {AditError} FORBIDDEN for a client that isn't the caller's, and for such an order; INVALID_INPUT for too many rows
 */
export async function listQuery<Order extends string>(context: Context, args: ListArgs<Order>) {
  const withoutSecrets = !seesSecrets(context.caller);
  if (withoutSecrets && args.orderBy && secretOrders.has(args.orderBy)) throw new AditError('FORBIDDEN');
  const scope = await listScope(context, idOf('clientId', args.clientId));
  if (args.orderBy && runningOrders.has(args.orderBy)) await context.freshState();
  return {
    ...ownerFilter(context.caller, args),
    ...scope,
    search: args.search ?? undefined,
    withoutSecrets,
    orderBy: args.orderBy ?? undefined,
    desc: args.order === 'DESC',
    ...stretchOf(args),
  };
}

function ownerFilter(caller: Caller, { ownerId, unassigned }: Pick<ListArgs<string>, 'ownerId' | 'unassigned'>): { ownerId?: OwnerFilter } {
  if (caller.kind !== 'admin') return {};
  return { ownerId: unassigned === true ? null : idOf('ownerId', ownerId) ?? undefined };
}
