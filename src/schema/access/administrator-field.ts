import type { Context } from '../context.ts';

/** Makes a field of a record one for administrators: they get its value, other callers get null. The field must be nullable. */
export function forAdministrators<Row, Value>(read: (row: Row, context: Context) => Value) {
  return (row: Row, _args: object, context: Context): Value | null => context.caller.kind === 'admin' ? read(row, context) : null;
}

/** The last sentence of the description of such a field, and of docs/api.md. */
export const nullUnlessAdministrator = 'Null unless the caller is an administrator.';
