import type { Caller } from '../../rules/caller.ts';

/** Whether a caller may see keys, passwords and headers with credentials: all callers except those with a token without `secrets`. */
export function seesSecrets({ withoutSecrets }: Caller): boolean {
  return withoutSecrets !== true;
}

/**
 * Makes a field a secret: callers who may see secrets get its value, others get null.
 * `test/authorisation/secret-fields.test.ts` finds the fields that use it.
 */
export function secretOf<Row, Value>(read: (row: Row) => Value) {
  return (row: Row, _args: object, { caller }: { readonly caller: Caller }): Value | null => seesSecrets(caller) ? read(row) : null;
}

/** The last sentence of the description of such a field. */
export const nullWithoutSecrets = 'Null for tokens without `secrets`.';
