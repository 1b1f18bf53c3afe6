import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const { scripts, engines } = z.object({ scripts: z.record(z.string(), z.string()), engines: z.object({ node: z.string() }) }).parse(
  JSON.parse(read('package.json')),
);
const readme = read('README.md');

/** The npm scripts that a text names, as `npm start`, `npm test` or `npm run NAME`. */
function scriptsIn(text: string): string[] {
  return [...text.matchAll(/\bnpm (?:run (?:-s )?)?([a-z]\w*(?::[\w-]+)*)/g)].map(([, name = '']) => name).filter((name) =>
    !['ci', 'audit', 'registry', 'downloads'].includes(name)
  );
}

/** The files that a document links to, from the root of the repository. */
function linksOf(document: string): string[] {
  return [...read(document).matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, target = '']) => path.join(path.dirname(document), target));
}

test('README.md can be read in one sitting', () => {
  expect(readme.split('\n').length - 1).toBeLessThanOrEqual(150);
});

test('README.md has the command that starts the server, and the one that continuous integration tests with', () => {
  expect(/^## Two commands$.*?^```sh\n(.*?)^```$/ms.exec(readme)?.[1]?.split('\n').map((line) => line.replace(/ *#.*/, ''))).toEqual([
    'npm start',
    'npm test',
    '',
  ]);
  expect(read('.ci/run')).toMatch(/^ADIT_REQUIRE_PROGRAMS=1 npm test$/m);
});

test('README.md names the Node version that package.json asks for', () => {
  expect(readme).toContain(`Node ${engines.node.replace('>=', '')} or newer`);
});

test.each(['README.md', 'CONTRIBUTING.md', 'docs/README.md', 'docs/settings.md', 'docs/testing.md', 'docs/performance.md', '.ci/run'])(
  '%s names no npm script that does not exist',
  (document) => {
    expect(scriptsIn(read(document)).filter((name) => scripts[name] === undefined)).toEqual([]);
  },
);

test('docs/README.md lists every document, and README.md leads to it', () => {
  const documents = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md') && file !== 'README.md')
    .map((file) => path.join('docs', file));
  expect(linksOf('docs/README.md').filter((file) => file.startsWith('docs/')).toSorted()).toEqual(documents.toSorted());
  expect(linksOf('README.md')).toEqual(
    expect.arrayContaining(['docs/README.md', 'docs/settings.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'LICENSE']),
  );
});
