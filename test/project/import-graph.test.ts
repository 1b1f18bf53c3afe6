import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';

const root = path.resolve(import.meta.dirname, '../..');

/** The imports between folders of a directory, each as `from --> to`; files beside the folders are left out. */
function importsBetweenFolders(directory: string): Set<string> {
  const arrows = new Set<string>();
  for (const file of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.includes('generated')) continue;
    for (const [, imported = ''] of readFileSync(path.join(directory, file), 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) {
      const from = file.split(path.sep);
      const to = path.join(path.dirname(file), imported).split(path.sep);
      if (from.length > 1 && to.length > 1 && to[0] !== '..' && from[0] !== to[0]) arrows.add(`${from[0]} --> ${to[0]}`);
    }
  }
  return arrows;
}

/** The arrows of the mermaid diagrams of docs/architecture.md, by the directory that the comment in its first line names. */
const diagrams = new Map(
  [...readFileSync(path.join(root, 'docs/architecture.md'), 'utf8').matchAll(/```mermaid\n(?:[^`\n]*\n)?%% imports of (\S+)\n([^`]*)```/g)].map(
    ([, directory = '', text = '']) => {
      const arrows = [...text.matchAll(/^ *([\w-]+) --> (.+)$/gm)].flatMap(([, from = '', to = '']) =>
        to.split(' & ').map((folder) => `${from} --> ${folder}`)
      );
      return [directory, arrows] as const;
    },
  ),
);

/** Whether no folder imports one that, through others, imports it. */
function isAcyclic(arrows: Iterable<string>): boolean {
  let left = Array.from(arrows, (arrow) => arrow.split(' --> '));
  for (let before = -1; left.length !== before;) {
    before = left.length;
    left = left.filter(([, to]) => left.some(([from]) => from === to));
  }
  return left.length === 0;
}

describe.each(['src', 'src/engine'])('the diagram of the imports of %s', (directory) => {
  const real = importsBetweenFolders(path.join(root, directory));

  test('shows those that there are', () => {
    expect(real.size).toBeGreaterThan(10);
    expect(diagrams.get(directory)?.toSorted()).toEqual([...real].toSorted());
  });

  test('has no cycle', () => {
    expect(isAcyclic(real)).toBe(true);
    expect(isAcyclic([...real, ...Array.from(real, (arrow) => arrow.split(' --> ').toReversed().join(' --> '))])).toBe(false);
  });
});
