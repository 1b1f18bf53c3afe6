/** Converts a stored text to its type. @throws if the text is not one of the values */
export function stored<T extends string>(values: readonly T[], text: string): T {
  const value = values.find((candidate) => candidate === text);
  if (value === undefined) throw new Error(`the database holds ${JSON.stringify(text)}, which is none of ${values.join(', ')}`);
  return value;
}
