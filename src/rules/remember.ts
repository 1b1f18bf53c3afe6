/** Results for longer texts are not cached, so that the cache stays below 1 MB. */
const LONGEST = 128;

/**
 * Caches the results of a pure function by its argument, for external texts with few distinct values, such as names of header fields and
 * hosts. Clears the cache when it has `most` entries.
 */
export function remember<T>(compute: (text: string) => T, most = 1024): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (text.length > LONGEST) return compute(text);
    // A copy, since a substring keeps the whole original string in memory.
    const key = String(JSON.parse(JSON.stringify(text)));
    const result = compute(key);
    if (known.size >= most) known.clear();
    known.set(key, result);
    return result;
  };
}
