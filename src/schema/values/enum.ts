import { builder } from '../builder.ts';

/**
 * A GraphQL enum of values that the program uses. A name is the value in upper case: `httpProxy` is HTTP_PROXY.
 * @param descriptions by value; the compiler reports a missing value
 * @param names for values with a different name
 */
export function enumOf<Value extends string>(
  name: string,
  description: string,
  descriptions: Readonly<Record<Value, string>>,
  names?: Readonly<Partial<Record<Value, string>>>,
) {
  const values: Record<string, { readonly value: Value; readonly description: string }> = {};
  for (const value of keysOf(descriptions)) values[names?.[value] ?? upperCase(value)] = { value, description: descriptions[value] };
  return builder.enumType(name, { description, values });
}

/** The values of an enum, from their descriptions. */
export function keysOf<Value extends string>(descriptions: Readonly<Record<Value, string>>): readonly Value[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- descriptions are written out where they are passed
  return Object.keys(descriptions) as Value[];
}

function upperCase(value: string): string {
  return value.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}
