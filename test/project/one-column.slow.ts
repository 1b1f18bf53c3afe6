import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { API } from 'dev-typescript/unstable/sync';

// Short form: test/schema/one-field.test.ts

/*
 * Adds a column to the tunnels, a text `columnOfTheTest` (nobody gives a column that name), in a copy of the sources: in memory, laid over the real ones. The compiler accepts it when all
 * files are touched that CONTRIBUTING.md lists, and names each one that is forgotten.
 */

const root = path.resolve(import.meta.dirname, '../..');

/** A line of a file, and what the column adds after it. */
type Addition = readonly [after: string, added: string];

/** What somebody writes who adds the column, by file. */
const written: Readonly<Record<string, readonly Addition[]>> = {
  'prisma/schema.prisma': [['  stripPrefix  String   @default("")\n', '  columnOfTheTest String @default("")\n']],
  'src/schema/tunnel/columns.ts': [[
    "  remark: { audit: 'value', shown: 'remark', input: 'remark', copied: true, declared: true },\n",
    "  columnOfTheTest: { audit: 'value', shown: 'columnOfTheTest', input: 'columnOfTheTest', copied: true, declared: false },\n",
  ]],
  'src/schema/tunnel/type.ts': [[
    "    remark: t.exposeString('remark', { description: 'A note.' }),\n",
    "    columnOfTheTest: t.string({ nullable: true, description: 'What else is to say; null = nothing.', resolve: (row) => textOrNull(row.columnOfTheTest) }),\n",
  ]],
  'src/schema/tunnel/input.ts': [
    [
      "  remark: t.string({ description: 'A note: at most 255 characters.' }),\n",
      "  columnOfTheTest: t.string({ description: 'What else is to say; null = nothing.' }),\n",
    ],
    ["    remark: () => givenOr(input.remark, ''),\n", "    columnOfTheTest: () => givenOr(input.columnOfTheTest, ''),\n"],
    ["    remark: () => textOf('remark', input.remark),\n", "    columnOfTheTest: () => textOf('columnOfTheTest', input.columnOfTheTest),\n"],
  ],
  'src/legacy/controllers/index-tunnels.ts': [[
    "  remark: sets('remark', about('A note.', text())),\n",
    "  column_of_the_test: sets('columnOfTheTest', about('What else is to say.', text())),\n",
  ]],
  'src/legacy/operations/records.graphql': [['  stripPrefix\n', '  columnOfTheTest\n']],
  'src/legacy/records/tunnel.ts': [["    StripPre: tunnel.stripPrefix ?? '',\n", "    ColumnOfTheTest: tunnel.columnOfTheTest ?? '',\n"]],
  'src/legacy/shapes.ts': [['  Tunnel: z.object({\n', '    ColumnOfTheTest: text,\n']],
};
const files = Object.keys(written);

/** What the generators make of `stripPrefix`, which is a column of the same kind, they make of the new one. */
function generated(name: string, text: string, touched: ReadonlySet<string>): string {
  if (/^src\/store\/generated\/\w+\/models\/Tunnel\.ts$/.test(name) && touched.has('prisma/schema.prisma')) {
    return text.replaceAll('"stripPrefix"', '"stripPrefix" | "columnOfTheTest"').replaceAll(
      /^ +(?:readonly )?stripPrefix\??: .*\n/gm,
      (line) => line + line.replace('stripPrefix', 'columnOfTheTest'),
    );
  }
  if (name !== 'src/legacy/generated/graphql.ts') return text;
  const inputs = touched.has('src/schema/tunnel/input.ts')
    ? text.replaceAll(/^ +stripPrefix\?: .*\n/gm, (line) => line + line.replace('stripPrefix', 'columnOfTheTest'))
    : text;
  const asked = touched.has('src/schema/tunnel/type.ts') && touched.has('src/legacy/operations/records.graphql');
  return asked ? inputs.replaceAll(' stripPrefix: string | null,', ' stripPrefix: string | null, columnOfTheTest: string | null,') : inputs;
}

function textWith(name: string, touched: ReadonlySet<string>): string {
  const text = generated(name, readFileSync(path.join(root, name), 'utf8'), touched);
  if (!touched.has(name)) return text;
  return (written[name] ?? []).reduce((made, [after, added]) => {
    if (made.split(after).length !== 2) throw new Error(`${name} has not one line like this any more: ${after}`);
    return made.replace(after, () => after + added);
  }, text);
}

/** The files whose text depends on what was touched. */
const laidOver = [
  ...files.filter((name) => name.endsWith('.ts')),
  ...['sqlite', 'postgresql'].map((dialect) => `src/store/generated/${dialect}/models/Tunnel.ts`),
  'src/legacy/generated/graphql.ts',
];
/** What the compiler reads in place of the files of that name. */
const copy = new Map<string, string>();
// One process for all programs: what does not change is parsed once.
const compiler = new API({ cwd: root, fs: { readFile: (file) => copy.get(file) } });
afterAll(() => compiler.close());

/** What the compiler says of the program with the column in these files. @param names the files that are asked about; absent = all */
function faults(touched: readonly string[], names?: readonly string[]): string[] {
  for (const name of laidOver) copy.set(path.join(root, name), textWith(name, new Set(touched)));
  const config = path.join(root, 'tsconfig.json');
  const project = compiler.updateSnapshot({ openProjects: [config], fileChanges: { changed: [...copy.keys()] } }).getProject(config);
  if (project === undefined) throw new Error('the compiler has not opened tsconfig.json');
  const { program } = project;
  const found = names?.flatMap((name) => program.getSemanticDiagnostics(path.join(root, name))) ?? program.getSemanticDiagnostics();
  return found.map(({ fileName = '', text }) => `${path.relative(root, fileName)}: ${text}`);
}

/** Where the compiler reports a file that was forgotten: in the file itself, unless it compiles nothing of it. */
const reportedIn: Readonly<Record<string, string>> = {
  'prisma/schema.prisma': 'src/schema/tunnel/columns.ts',
  'src/schema/tunnel/columns.ts': 'src/schema/tunnel/columns.ts',
  'src/schema/tunnel/type.ts': 'src/schema/tunnel/type.ts',
  'src/schema/tunnel/input.ts': 'src/schema/tunnel/input.ts',
  'src/legacy/controllers/index-tunnels.ts': 'src/legacy/controllers/index-tunnels.ts',
  'src/legacy/operations/records.graphql': 'src/legacy/records/tunnel.ts',
  'src/legacy/records/tunnel.ts': 'src/legacy/records/tunnel.ts',
  'src/legacy/shapes.ts': 'src/legacy/records/tunnel.ts',
};

describe('a column of tunnels', () => {
  test('is added in eight files at most, those that CONTRIBUTING.md lists', () => {
    const [, listed = ''] = /^- \*\*A field\*\*(.*?)^- \*\*/ms.exec(readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8')) ?? [];
    expect(files.length).toBeLessThanOrEqual(8);
    expect([...listed.matchAll(/^ +\d\. `([^`]+)`/gm)].map(([, name]) => name)).toEqual(files);
  });

  test('compiles when all of them have it', () => {
    expect(faults(files)).toEqual([]);
  });

  test.each(files)('is reported by the compiler when %s is forgotten', (forgotten) => {
    expect(faults(files.filter((name) => name !== forgotten), [reportedIn[forgotten] ?? forgotten]).join('\n')).toMatch(/columnOfTheTest/i);
  });

  test('is reported by the compiler when all files of the legacy API are forgotten: as a parameter, and as a field of the fragment', () => {
    const forgotten = files.filter((name) => name.startsWith('src/legacy/'));
    const found = faults(files.filter((name) => !forgotten.includes(name)), ['src/legacy/controllers/index-tunnels.ts', 'src/legacy/records/tunnel.ts']);
    expect(found).toEqual([
      expect.stringMatching(/^src\/legacy\/controllers\/index-tunnels\.ts: .*columnOfTheTest/s),
      expect.stringMatching(/^src\/legacy\/records\/tunnel\.ts: .*TunnelFieldsFragment/s),
    ]);
  });
});
