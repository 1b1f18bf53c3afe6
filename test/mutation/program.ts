import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import { bundling } from '../../src/prepare/steps.mjs';
import { mixupsOf } from './mixups.ts';
import { mutantsOf, type Mutant } from './operators.ts';
import { moduleOf } from './sample.ts';

/** The switch, as the copied program has it. */
const SWITCH_FILE = 'src/mutant-switch.mjs';

/** What finds the mutants of a source file, by the name of their kind. */
export const kinds = { operators: mutantsOf, mixups: mixupsOf };

/** All mutants of a kind in the program; a mutant's number is its place here. */
export function allMutants(root: string, files: readonly string[], kind: keyof typeof kinds): Mutant[] {
  return files.filter((file) => /^src\/.*\.ts$/.test(file) && moduleOf(file) !== undefined)
    .flatMap((file) => kinds[kind](file, readFileSync(path.join(root, file), 'utf8')));
}

/** The files of the repository that exist, tracked or not. */
export function repositoryFiles(root: string): string[] {
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' }).split('\n')
    .filter((file) => file !== '' && existsSync(path.join(root, file)));
}

/** Copies the repository with its generated code, over an earlier copy. */
export function copyRepository(root: string, directory: string, files: readonly string[]): void {
  rmSync(directory, { recursive: true, force: true });
  const generated = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) => path.basename(name) === 'generated');
  for (const file of [...files, ...generated.map((name) => path.join('src', name))]) {
    cpSync(path.join(root, file), path.join(directory, file), { recursive: true });
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
}

/**
 * Copies the repository and puts every mutant into the copy, switched off: `a < b` becomes `(mutant(7) ? a <= b : a < b)`. So one start of jest, and one
 * compilation, serve all mutants.
 */
export async function copyWithMutants(root: string, directory: string, files: readonly string[], mutants: readonly Mutant[]): Promise<void> {
  copyRepository(root, directory, files);
  cpSync(path.join(root, 'test/mutation/switch.mjs'), path.join(directory, SWITCH_FILE));
  const numbered = mutants.map((mutant, number) => ({ ...mutant, number }));
  for (const file of new Set(mutants.map((mutant) => mutant.file))) {
    const source = withMutants(readFileSync(path.join(root, file), 'utf8'), numbered.filter((mutant) => mutant.file === file));
    // On the first line, so that all lines keep their numbers.
    writeFileSync(path.join(directory, file), `import { mutant as ${ASKS} } from '${path.posix.relative(path.posix.dirname(file), SWITCH_FILE)}'; ${source}`);
  }
  mkdirSync(path.join(directory, '.cache'), { recursive: true });
  await build({ ...bundling(path.join(directory, 'dist')) as BuildOptions, absWorkingDir: directory });
  // The server does not start without them. They have no mutants.
  for (const name of ['panel', 'agent']) cpSync(path.join(root, 'dist', name), path.join(directory, 'dist', name), { recursive: true });
}

/** The switch's name in the copied program, which no file uses otherwise. */
const ASKS = 'mutant$';

type Numbered = Pick<Mutant, 'start' | 'end' | 'text' | 'statement'> & { readonly number: number };

/** The source with all of its mutants, switched off. */
export function withMutants(source: string, mutants: readonly Numbered[]): string {
  // Those that replace the same code are neighbors; what contains other code comes before it.
  const waiting = mutants.toSorted((a, b) => a.start - b.start || b.end - a.end || Number(b.statement) - Number(a.statement));
  const written = (from: number, to: number): string => {
    let text = '';
    let at = from;
    for (let next = waiting[0]; next !== undefined && next.start < to; next = waiting[0]) {
      const { start, end, statement } = next;
      const same: Numbered[] = [];
      for (; next !== undefined && next.start === start && next.end === end && next.statement === statement; next = waiting[0]) {
        same.push(next);
        waiting.shift();
      }
      text += source.slice(at, start) + choice(same, written(start, end));
      at = end;
    }
    return text + source.slice(at, to);
  };
  return written(0, source.length);
}

function choice(mutants: readonly Numbered[], otherwise: string): string {
  if (mutants[0]?.statement === true) {
    return `{ ${
      mutants.map(({ number, text }) => text === ';' ? `if (!${ASKS}(${number})) ` : `if (${ASKS}(${number})) { ${text} } else `).join('')
    }{ ${otherwise} } }`;
  }
  return `(${mutants.map(({ number, text }) => `${ASKS}(${number}) ? ${text} : `).join('')}${otherwise})`;
}
