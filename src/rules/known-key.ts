const knownKeys = new Set(['123', '213', 'CHANGE_ME', 'CHANGE_ME_16CHAR', '1234567812345678']);

/** Whether a key is one that this family of servers came with: whoever read their templates knows it (contract sections 5 and 7, D30). */
export function isKnownKey(key: string): boolean {
  return knownKeys.has(key.trim());
}
