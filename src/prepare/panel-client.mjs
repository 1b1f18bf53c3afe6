// Writes the panel's GraphQL client (src/panel/generated): the types and documents of the operations in its components, after checking them against the
// schema. Calls the generator's client preset directly: its command line would install 76 MB more (operations.mjs).
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { preset } from '@graphql-codegen/client-preset';
import { codegen } from '@graphql-codegen/core';
import { buildSchema, parse, printSchema } from 'graphql';
import { root } from './run.mjs';

const panel = path.join(root, 'src/panel');
const generated = path.join(panel, 'generated');
const schemaAst = buildSchema(readFileSync(path.join(root, 'src/schema/schema.graphql'), 'utf8'));
const schema = parse(printSchema(schemaAst));
const scalars = { DateTime: 'string', Bytes: 'number', BytesPerSecond: 'number', KibPerSecond: 'number', Mebibytes: 'number', JSON: 'unknown', Port: 'number' };

/** The operations and fragments in a component: the texts of its calls of `graphql`. */
function documentsIn(location) {
  return [...readFileSync(location, 'utf8').matchAll(/\bgraphql\(`([^`]*)`\)/g)].map(([, text]) => ({ location, document: parse(text), rawSDL: text }));
}

const sources = readdirSync(panel, { recursive: true })
  .filter((name) => /\.tsx?$/.test(name) && !name.replaceAll(path.sep, '/').startsWith('generated/'))
  .toSorted((one, other) => one < other ? -1 : 1);
const sections = await preset.buildGeneratesSection({
  baseOutputDir: `${generated}${path.sep}`,
  schema,
  schemaAst,
  documents: sources.flatMap((name) => documentsIn(path.join(panel, name))),
  config: { useTypeImports: true, enumsAsTypes: true, strictScalars: true, dedupeFragments: true, scalars },
  importExtension: '.ts',
  presetConfig: { fragmentMasking: { unmaskFunctionName: 'unmask' } },
  plugins: [],
  pluginMap: {},
  profiler: { run: (work) => work(), collect: () => [] },
});
const files = await Promise.all(sections.map(async (section) => [section.filename, await codegen(section)]));

/** The codes of errors: they are not part of any operation, so the preset leaves them out. */
const codes = Object.values(schemaAst.getType('ErrorCode').getValues()).map(({ name }) => `  | '${name}'`);
files.push([path.join(generated, 'error-codes.ts'), `/** The codes of errors. */\nexport type ErrorCode =\n${codes.join('\n')};\n`]);

rmSync(generated, { recursive: true, force: true });
mkdirSync(generated, { recursive: true });
for (const [name, text] of files) writeFileSync(name, text);
