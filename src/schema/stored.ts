/** A stored text as one of the values it can have. @throws when the database holds another */
export function stored<T extends string>(values: readonly T[], text: string): T {
  const value = values.find((candidate) => candidate === text);
  if (value === undefined) throw new Error(`the database holds ${JSON.stringify(text)}, which is none of ${values.join(', ')}`);
  return value;
}
