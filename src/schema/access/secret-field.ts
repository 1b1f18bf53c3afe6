import type { Caller } from '../../rules/caller.ts';

/** Whether a caller may see keys, passwords and the headers that carry credentials: all but those who came by a token without `secrets`. */
export function seesSecrets({ withoutSecrets }: Caller): boolean {
  return withoutSecrets !== true;
}

/**
 * What makes a field hold a secret: its value for callers who see secrets, a blank one for others, so that the field keeps its type.
 * The fields that hold one are found by `test/authorisation/secret-fields.test.ts`.
 * @param blank what others get
 */
export function secretOf<Row, Value>(read: (row: Row) => Value, blank: Value) {
  return (row: Row, _args: object, { caller }: { readonly caller: Caller }): Value => seesSecrets(caller) ? read(row) : blank;
}

/** Ends the description of such a field. */
export const blankWithoutSecrets = 'Blank for tokens without `secrets`.';
