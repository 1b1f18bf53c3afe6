import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
const code = tracked.filter((file) => /^(src|test|bench|prisma)\/.*\.(ts|mjs|prisma)$/.test(file));
const documents = tracked.filter((file) => file.endsWith('.md'));

/** The anchors of a document, as its readers' programs make them from its headings. */
function anchorsOf(text: string): ReadonlySet<string> {
  return new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').trim().replaceAll(/\s/g, '-')),
  );
}

/** What `contract ...` can name: the numbers of the sections, and the decisions. */
const named = new Set([...read('docs/contract.md').matchAll(/^#+ (?:(\d(?:\.\d+)?)\.? |(D\d+)$)/gm)].map(([, section, decision]) => section ?? decision));

/** The references of a text to the contract: `contract 4.7, D13 and 2.1`, `contract D7 to D10`, `contract section 0`, `(D26)`. */
function contractReferences(text: string): string[] {
  const lists = [...text.matchAll(/\bcontract (?:sections? )?((?:[D\d][\d.]*\d?)(?:(?:, | and | to )[D\d][\d.]*)*)/gi)].map(([, list = '']) => list);
  const alone = [...text.matchAll(/\((D\d+)\)/g)].map(([, decision = '']) => decision);
  return [...lists.flatMap((list) => list.split(/, | and | to /)), ...alone].map((each) => each.replace(/\.$/, ''));
}

test('every reference of the code to the contract names a section or decision of docs/contract.md', () => {
  const references = code.flatMap((file) => contractReferences(read(file)).map((reference) => ({ file, reference })));
  expect(references.length).toBeGreaterThan(200);
  expect(references.filter(({ reference }) => !named.has(reference))).toEqual([]);
});

test('no comment of the code cites a text that is not in the repository', () => {
  expect(code.filter((file) => /\bspec(?:\.md)?\b(?: ["/]|,| rule)/i.test(read(file)) && !file.endsWith('references.test.ts'))).toEqual([]);
});

test('every link from a document leads to a file of the repository, and to a heading in it', () => {
  const broken = documents.flatMap((file) =>
    [...read(file).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(([link, target = '', anchor]) => {
      const wanted = target === '' ? file : path.join(path.dirname(file), target);
      if (!existsSync(path.join(root, wanted))) return [{ file, link }];
      return anchor === undefined || anchorsOf(read(wanted)).has(anchor) ? [] : [{ file, link }];
    })
  );
  expect(broken).toEqual([]);
});

test('every document that code or documents name by its path exists', () => {
  const missing = [...code, ...documents].flatMap((file) =>
    [...read(file).matchAll(/\bdocs\/[\w/-]+\.md\b/g)].filter(([name]) => !existsSync(path.join(root, name))).map(([name]) => ({ file, name }))
  );
  expect(missing).toEqual([]);
});

/** Whether a document can name this: a file or folder of the repository, a suite without the end of its name (as arguments of `npm test`), or what the generators write. */
function exists(name: string): boolean {
  const all = ['', '.test.ts', '.slow.ts', '.endurance.ts'].map((end) => path.join(root, name.replace(/\/$/, '') + end));
  return all.some((file) => existsSync(file)) || /\/generated(?:\/|$)/.test(name);
}

test('every suite of `npm run test:slow` names its short form in `npm test`', () => {
  const slow = tracked.filter((file) => file.endsWith('.slow.ts'));
  expect(slow.length).toBeGreaterThan(0);
  const shortForms = slow.map((file) => ({ file, short: /^\/\/ Short form: (test\/\S+)$/m.exec(read(file))?.[1] }));
  expect(shortForms.filter(({ short }) => !short?.endsWith('.test.ts') || !tracked.includes(short))).toEqual([]);
});

/** Files that a release makes. */
const released: ReadonlySet<string> = new Set(['adit-agent.mjs']);

test('every source file that a document names exists', () => {
  const quoted = documents.flatMap((file) => [...read(file).matchAll(/`([\w./-]+)`/g)].map(([, name = '']) => ({ file, name })));
  const paths = quoted.filter(({ name }) => /^(?:src|test|bench|prisma)\//.test(name));
  // A name without its folder: `columns.ts`, `host/name-rules.ts`.
  const names = quoted.filter(({ name }) => /^(?!(?:src|test|bench|prisma)\/)[\w-].*\.(?:ts|mjs|cjs|graphql|prisma)$/.test(name));
  expect(paths.length).toBeGreaterThan(200);
  expect(names.length).toBeGreaterThan(100);
  expect(paths.filter(({ name }) => !exists(name))).toEqual([]);
  expect(names.filter(({ name }) => !released.has(name) && !tracked.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([]);
});

test('the list of decisions has the headings of the documents', () => {
  const decisions = documents.filter((file) => file.startsWith('docs/decisions/')).map((file) => {
    const [, heading] = /^# (.+)$/m.exec(read(file)) ?? [];
    return `[${heading}](${path.relative('docs', file)})`;
  });
  const [, list = ''] = /^Decisions, each with its reasons:\n\n((?:- .+\n)+)/m.exec(read('docs/README.md')) ?? [];
  expect(list.trim().split('\n').map((line) => line.slice('- '.length)).toSorted()).toEqual(decisions.toSorted());
});
