import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { mutated, type Mutant } from './operators.ts';

/**
 * The mutants that the type checker refuses: the lint detects them. All are put into a copy of the program at once, those of the same code one after the other;
 * an error counts for the mutant on whose lines it is.
 *
 * @param root of the repository @param copy a copy of it
 */
export async function refusedByTypes(root: string, copy: string, mutants: readonly Mutant[]): Promise<Set<Mutant>> {
  const refused = new Set<Mutant>();
  for (let waiting = mutants; waiting.length > 0;) {
    const now = apart(waiting);
    const sources = Array.from(new Set(now.map(({ file }) => file)), (file) => ({
      file,
      some: now.filter((mutant) => mutant.file === file),
      source: readFileSync(path.join(root, file), 'utf8'),
    }));
    for (const { file, some, source } of sources) {
      // From the end on, so that the places of the others stay right.
      const text = some.toSorted((a, b) => b.start - a.start).reduce((before, mutant) => mutated(before, sameLines(source, mutant)), source);
      writeFileSync(path.join(copy, file), text);
    }
    const output = await errorsOf(copy);
    for (const [, file, line] of output.matchAll(/^(.+?)\((\d+),\d+\): error/gm)) {
      const source = sources.find((one) => one.file === file);
      const mutant = source?.some.find(({ start, end }) => lineAt(source.source, start) <= Number(line) && Number(line) <= lineAt(source.source, end));
      if (mutant) refused.add(mutant);
    }
    for (const { file, source } of sources) writeFileSync(path.join(copy, file), source);
    waiting = waiting.filter((mutant) => !now.includes(mutant));
  }
  return refused;
}

/** As many as are on lines of their own. */
function apart(mutants: readonly Mutant[]): Mutant[] {
  const chosen: Mutant[] = [];
  const ends = new Map<string, Mutant[]>();
  for (const mutant of mutants) {
    const others = ends.get(mutant.file) ?? [];
    if (others.some((other) => other.start < mutant.end + NEAR && mutant.start < other.end + NEAR)) continue;
    ends.set(mutant.file, [...others, mutant]);
    chosen.push(mutant);
  }
  return chosen;
}

/** Characters between two mutants, so that they are not on the same line: lines are shorter. */
const NEAR = 180;

/** The mutant with as many lines as what it replaces. */
function sameLines(source: string, mutant: Mutant): Mutant {
  const before = source.slice(mutant.start, mutant.end).split('\n').length;
  return { ...mutant, text: mutant.text + '\n'.repeat(Math.max(0, before - mutant.text.split('\n').length)) };
}

function lineAt(source: string, at: number): number {
  return source.slice(0, at).split('\n').length;
}

function errorsOf(copy: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(path.join(copy, 'node_modules/.bin/tsc'), ['--noEmit', '--pretty', 'false', '-p', copy], { cwd: copy, maxBuffer: 2 ** 28 }, (error, stdout) => {
      if (error && stdout === '') reject(error);
      else resolve(stdout);
    });
  });
}
