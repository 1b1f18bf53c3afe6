/** Longer texts are computed anew each time: what is remembered stays below a megabyte. */
const LONGEST = 128;

/**
 * A pure function that remembers its results by the text, for texts that strangers send and that are few in practice: names of header fields, of
 * hosts. Forgets all when there are `most`.
 */
export function remember<T>(compute: (text: string) => T, most = 1024): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (text.length > LONGEST) return compute(text);
    // A copy: a part of a text keeps the whole of it in memory.
    const key = String(JSON.parse(JSON.stringify(text)));
    const result = compute(key);
    if (known.size >= most) known.clear();
    known.set(key, result);
    return result;
  };
}
