/** What JSON.parse silently accepts, but must not be imported. */
export interface JsonFault {
  /** The path of the key, such as `Flow.InletFlow`. */
  readonly field: string;
  readonly text: string;
}

/** How deep objects and lists may be inside each other; those of NPS are four deep. */
const mostDepth = 32;
/** Faults of one record that are named. */
const mostFaults = 20;
/** An escaped half of a character beyond 16 bits. */
const half = /\\u[dD][89a-fA-F]/;

/**
 * Finds duplicate keys, of which JSON.parse keeps the last, integers above 2^53, which it rounds, halves of characters, which no database stores, and what is too
 * deep for programs that follow it.
 * @param text valid JSON
 */
export function jsonFaults(text: string): JsonFault[] {
  const faults: JsonFault[] = [];
  const stack: Array<{ readonly keys: Set<string> | undefined; readonly path: string }> = [];
  let path = '';
  const token = /["{}[\]]|-?\d[\d.eE+-]*/g;
  for (let found = token.exec(text); found !== null && faults.length < mostFaults; found = token.exec(text)) {
    if (found[0] === '"') token.lastIndex = stringEnd(text, found.index);
    const part = text.slice(found.index, token.lastIndex);
    const top = stack.at(-1);
    if (part === '{' || part === '[') {
      if (stack.length === mostDepth) return [{ field: path, text: `is more than ${mostDepth} levels deep` }];
      stack.push({ keys: part === '{' ? new Set() : undefined, path });
    } else if (part === '}' || part === ']') path = stack.pop()?.path ?? '';
    else if (part.startsWith('"')) {
      const isName = top?.keys !== undefined && isKey(text, token.lastIndex);
      if (half.test(part) && !String(JSON.parse(part)).isWellFormed()) {
        faults.push({ field: isName ? top.path : path, text: 'holds half of a character (an unpaired surrogate)' });
      }
      if (!isName) continue;
      const key = String(JSON.parse(part));
      path = top.path === '' ? key : `${top.path}.${key}`;
      if (top.keys.has(key)) faults.push({ field: path, text: 'the key occurs twice' });
      top.keys.add(key);
    } else if (/^-?\d+$/.test(part) && !Number.isSafeInteger(Number(part))) {
      faults.push({ field: path, text: `${part.slice(0, 40)} is beyond 2^53, and cannot be read exactly` });
    }
  }
  return faults;
}

/** The end of a JSON string, behind its closing quote. A regular expression would run out of stack in one of some megabytes. @param start of its opening quote */
export function stringEnd(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** Whether the text that ends here is a key. */
function isKey(text: string, end: number): boolean {
  let at = end;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return text[at] === ':';
}
