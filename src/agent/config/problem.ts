/** A problem of a configuration file. */
export interface ConfigProblem {
  /** Counted from 1; undefined = the problem has no single line. */
  readonly line: number | undefined;
  /** The table and key with the problem: "tunnels.web.port"; "" = the file as a whole. */
  readonly field: string;
  /** Never quotes a secret. */
  readonly text: string;
}

/** A problem for the operator: `adit-agent.toml:12: tunnels.web.port: must be ...`. @param file its path */
export function problemLine(file: string, { line, field, text }: ConfigProblem): string {
  // A key may contain terminal control characters.
  return `${file}${line === undefined ? '' : `:${line}`}: ${field === '' ? '' : `${field}: `}${text}`.replace(/\p{Cc}/gu, '?');
}

const key = String.raw`(?:[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*')`;
const dotted = String.raw`${key}(?:\s*\.\s*${key})*`;
const header = new RegExp(String.raw`^\s*\[\[?\s*(${dotted})\s*\]`);
const assignment = new RegExp(String.raw`^\s*(${dotted})\s*=`);

/** The lines of the keys of a TOML text, which the parser does not report. Multi-line texts that look like keys may yield a wrong line. */
export class KeyLines {
  readonly #keys: Array<{ readonly keys: readonly string[]; readonly line: number }> = [];

  constructor(text: string) {
    let table: string[] = [];
    for (const [index, line] of text.split('\n').entries()) {
      const named = header.exec(line)?.[1];
      if (named !== undefined) table = keysOf(named);
      const assigned = assignment.exec(line)?.[1];
      if (named !== undefined || assigned !== undefined) {
        this.#keys.push({ keys: assigned === undefined ? table : [...table, ...keysOf(assigned)], line: index + 1 });
      }
    }
  }

  /** The line of a key or, if the key is missing, of the table that should contain it; undefined = not even its first part exists. */
  of(path: readonly PropertyKey[]): number | undefined {
    let found: { readonly line: number; readonly length: number } | undefined;
    for (const { keys, line } of this.#keys) {
      if (keys.length > (found?.length ?? 0) && keys.length <= path.length && keys.every((part, at) => part === path[at])) {
        found = { line, length: keys.length };
      }
    }
    return found?.line;
  }
}

function keysOf(text: string): string[] {
  return Array.from(text.matchAll(new RegExp(key, 'g')), ([part]) => part.startsWith('"') || part.startsWith("'") ? part.slice(1, -1) : part);
}
