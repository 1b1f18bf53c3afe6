import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Mutant } from './operators.ts';

/** A mutant that no suite can notice, or need not, and why. */
export interface Explanation {
  readonly file: string;
  /** The changed line, without the blanks around it. */
  readonly line: string;
  readonly change: string;
  readonly why: string;
}

/** Survivors that were looked at one by one. */
const explanations: readonly Explanation[] = [
  {
    file: 'src/wire/datagram-socket.ts',
    line: 'const bytes = this.#rest.length === 0 && !taken ? chunk : Buffer.concat([this.#rest, chunk]);',
    change: 'this.#rest.length === 0 && !taken ? chunk : Buffer.concat([this.#rest, chunk]) → false ? chunk : Buffer.concat([this.#rest, chunk])',
    why: 'All bytes are copied instead of only those that are borrowed or continue a datagram: slower, with the same datagrams.',
  },
  {
    file: 'src/engine/http/plain-lines.ts',
    line: 'const known: Array<Known | undefined> = Array.from({ length: 32 * (LONGEST + 1) });',
    change: 'LONGEST + 1 → LONGEST - 1',
    why: 'The table is shorter at first, and grows when the names are put in. What lies beyond its end is undefined, as an empty place is.',
  },
  {
    file: 'src/stream-handlers/answerer.ts',
    line: 'if (left > 0) this.#answering.set(by, left);',
    change:
      'if (left > 0) this.#answering.set(by, left); else this.#answering.delete(by); → if (true) this.#answering.set(by, left); else this.#answering.delete(by);',
    why: 'The count 0 of a tunnel or host is kept, which means the same as no count: a few dozen bytes of memory for each that the agent ever served.',
  },
  {
    file: 'src/engine/limits/meter.ts',
    line: 'if (!this.#active) this.#activate();',
    change: 'if (!this.#active) this.#activate(); → if (true) this.#activate();',
    why: 'A meter that is watched is put into the two sets again, which changes nothing: each chunk costs two more look-ups.',
  },
  {
    file: 'src/engine/vhost/hosts.ts',
    line: 'if (++looked % HOSTS_TOGETHER === 0) await setImmediate();',
    change: 'if (++looked % HOSTS_TOGETHER === 0) await setImmediate(); → if (true) await setImmediate();',
    why: 'The event loop gets a turn after each host instead of after some of them: slower, with the same hosts.',
  },
];

/** Why a mutant survives. @param root of the repository */
export function explanationOf({ file, line, change }: Mutant, root: string): Explanation | undefined {
  const text = readFileSync(path.join(root, file), 'utf8').split('\n')[line - 1]?.trim();
  return explanations.find((each) => each.file === file && each.line === text && each.change === change);
}
