/**
 * A value that is null only for callers who may not see it. The operations that use this function refuse such callers with an error, so it never sees null.
 * @throws {Error} if the value is null
 */
export function answered<Value>(value: Value | null): Value {
  if (value === null) throw new Error('an operation returned null instead of an error');
  return value;
}
