import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { temporaryDirectory } from '../support/temporary-directory.ts';

// Short form: test/project/import-graph.test.ts

const root = path.resolve(import.meta.dirname, '../..');
const directories = temporaryDirectory();
let checkouts = 0;
const resultSchema = z.object({ stdout: z.string() });

/** A checkout of these files, with our lint's configuration. */
function checkout(files: Readonly<Record<string, string>>): string {
  const directory = path.join(directories, `${++checkouts}`);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.join(directory, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(directory, name), content);
  }
  for (const name of ['.dependency-cruiser.cjs', '.oxlintrc.json', 'tsconfig.json', 'package.json']) cpSync(path.join(root, name), path.join(directory, name));
  symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
  return directory;
}

/** What a lint program prints on stdout, whether it is content or not. */
async function lint(directory: string, program: string, args: readonly string[]): Promise<string> {
  const bin = path.join(root, 'node_modules', program);
  const done = promisify(execFile)(process.execPath, [bin, ...args], { cwd: directory }).catch((failure: unknown) => failure);
  return resultSchema.parse(await done).stdout;
}

/** The imports, as `from -> to`, that the directions of imports forbid among these files. */
async function forbidden(files: Readonly<Record<string, string>>): Promise<string[]> {
  const report = await lint(checkout(files), 'dependency-cruiser/bin/dependency-cruise.mjs', [
    '--config',
    '.dependency-cruiser.cjs',
    '--output-type',
    'json',
    'src',
  ]);
  const { summary } = z.object({
    summary: z.object({ violations: z.array(z.object({ from: z.string(), to: z.string(), rule: z.object({ name: z.string() }) })) }),
  }).parse(JSON.parse(report));
  return [...new Set(summary.violations.map(({ from, to }) => `${from} -> ${to}`))].toSorted();
}

/** A room's file that imports these files of src. */
const importing = (...targets: string[]) => targets.map((target) => `import '../${target}';\n`).join('');

test('imports between rooms go one way', async () => {
  const leaves = Object.fromEntries(
    ['rules', 'wire', 'settings', 'store', 'engine', 'agent', 'schema', 'legacy', 'http'].map((room) => [`src/${room}/leaf.ts`, 'export {};']),
  );
  const files = {
    ...leaves,
    'src/engine/face.ts': 'export interface Face { x: 1 }',
    'src/schema/errors.ts': 'export {};',
    'src/server.ts': 'export {};',
    'src/rules/bad.ts': importing('wire/leaf.ts', 'settings/leaf.ts', 'store/leaf.ts'),
    'src/wire/bad.ts': importing('rules/leaf.ts', 'engine/leaf.ts'),
    'src/settings/bad.ts': importing('store/leaf.ts'),
    'src/store/bad.ts': importing('settings/leaf.ts', 'rules/leaf.ts', 'schema/leaf.ts'),
    'src/engine/bad.ts': importing('wire/leaf.ts', 'rules/leaf.ts', 'store/leaf.ts', 'agent/leaf.ts'),
    'src/agent/bad.ts': importing('wire/leaf.ts', 'rules/leaf.ts', 'engine/leaf.ts', 'settings/leaf.ts'),
    'src/schema/bad.ts': importing('rules/leaf.ts', 'store/leaf.ts', 'engine/leaf.ts', 'legacy/leaf.ts')
      + "import type { Face } from '../engine/face.ts';\nexport type F = Face;\n",
    'src/legacy/bad.ts': importing('rules/leaf.ts', 'schema/errors.ts', 'schema/leaf.ts', 'store/leaf.ts')
      + "import type { Face } from '../engine/face.ts';\nexport type F = Face;\n",
    'src/http/bad.ts': importing('schema/leaf.ts', 'legacy/leaf.ts', 'server.ts'),
    'src/http/missing.ts': importing('schema/nowhere.ts'),
    'src/main.ts': "import './server.ts';\nimport './engine/leaf.ts';\nimport './http/leaf.ts';\n",
  };
  expect(await forbidden(files)).toEqual([
    'src/agent/bad.ts -> src/engine/leaf.ts',
    'src/agent/bad.ts -> src/settings/leaf.ts',
    'src/engine/bad.ts -> src/agent/leaf.ts',
    'src/engine/bad.ts -> src/store/leaf.ts',
    'src/http/bad.ts -> src/server.ts',
    'src/http/missing.ts -> ../schema/nowhere.ts',
    'src/legacy/bad.ts -> src/engine/face.ts',
    'src/legacy/bad.ts -> src/schema/leaf.ts',
    'src/legacy/bad.ts -> src/store/leaf.ts',
    'src/rules/bad.ts -> src/settings/leaf.ts',
    'src/rules/bad.ts -> src/store/leaf.ts',
    'src/rules/bad.ts -> src/wire/leaf.ts',
    'src/schema/bad.ts -> src/engine/leaf.ts',
    'src/schema/bad.ts -> src/legacy/leaf.ts',
    'src/settings/bad.ts -> src/store/leaf.ts',
    'src/store/bad.ts -> src/rules/leaf.ts',
    'src/store/bad.ts -> src/schema/leaf.ts',
    'src/store/bad.ts -> src/settings/leaf.ts',
    'src/wire/bad.ts -> src/engine/leaf.ts',
    'src/wire/bad.ts -> src/rules/leaf.ts',
  ]);
});

test('imports make no cycles, and what runs needs neither a dev dependency nor a build tool', async () => {
  expect(
    await forbidden({
      'src/rules/a.ts': "import './b.ts';\n",
      'src/rules/b.ts': "import './a.ts';\n",
      'src/rules/c.ts': "import 'fast-check';\nimport 'zod';\nimport 'esbuild';\n",
    }),
  ).toEqual([
    'src/rules/a.ts -> src/rules/b.ts',
    expect.stringMatching(/^src\/rules\/c\.ts -> .*node_modules\/esbuild\//),
    expect.stringMatching(/^src\/rules\/c\.ts -> .*node_modules\/fast-check\//),
  ]);
});

test('any, forgotten promises, unchecked casts and swallowed errors are refused', async () => {
  const report = await lint(
    checkout({
      'src/bad.ts': [
        'export const anything: any = 1;',
        'export async function forget() { Promise.resolve(1); }',
        "export const cast = JSON.parse('{}') as { x: number };",
        'export function swallow() { try { cast.x; } catch {} }',
      ].join('\n'),
    }),
    'oxlint/bin/oxlint',
    ['--type-aware', '--deny-warnings', '--format', 'unix', 'src'],
  );
  for (const rule of ['no-explicit-any', 'no-floating-promises', 'no-unsafe-type-assertion', 'no-empty']) expect(report).toContain(`(${rule})`);
});

test('a file, an export and a package that nothing uses are found', async () => {
  const directory = checkout({
    'src/main.ts': "import { used } from './part.ts';\nused();\n",
    'src/part.ts': 'export function used(): void {}\nexport function unused(): void {}\n',
    'src/alone.ts': 'export const alone = 1;\n',
  });
  const found = await lint(directory, 'knip/bin/knip.js', ['--no-progress', '--no-config-hints', '--include', 'files,dependencies,exports,types,duplicates']);
  expect(found).toMatch(/Unused files[^]*src\/alone\.ts[^]*Unused dependencies[^]*express [^]*Unused exports[^]*unused /);
  expect(found).not.toMatch(/^used |src\/main\.ts/m);
});
