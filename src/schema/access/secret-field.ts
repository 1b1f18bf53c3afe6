import type { Caller } from '../../rules/caller.ts';

/** Whether a caller may see keys, passwords and the headers that carry credentials: all but those who came by a token without `secrets`. */
export function seesSecrets({ withoutSecrets }: Caller): boolean {
  return withoutSecrets !== true;
}

/**
 * What makes a field hold a secret: its value for callers who see secrets, null for others.
 * The fields that hold one are found by `test/authorisation/secret-fields.test.ts`.
 */
export function secretOf<Row, Value>(read: (row: Row) => Value) {
  return (row: Row, _args: object, { caller }: { readonly caller: Caller }): Value | null => seesSecrets(caller) ? read(row) : null;
}

/** Ends the description of such a field. */
export const nullWithoutSecrets = 'Null for tokens without `secrets`.';
