/** Fields whose value is the id of a record that the store numbers. */
const numbered = /^(id|callerId|delete\w+|revoke\w+|closeConnection)$/;

/** Parses an answer; ids are numbers there, as the store and the legacy API have them, so that they compare. That GraphQL answers text, test/schema/ids.test.ts checks. */
export function parseWithNumbers(text: string): unknown {
  return JSON.parse(text, (key, value: unknown) => typeof value === 'string' && numbered.test(key) && /^\d+$/.test(value) ? Number(value) : value);
}
