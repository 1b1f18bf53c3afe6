// Writes what codegen.ts says below a directory: `node src/prepare/graphql-code.mjs DIRECTORY`. Checks the operations against the schema. Calls the generator's plugins
// and preset directly, since its command line would install 76 MB more.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { codegen } from '@graphql-codegen/core';
import { transform } from 'esbuild';
import { buildSchema, lexicographicSortSchema, parse, printSchema } from 'graphql';
import { root } from './run.mjs';

const [directory] = process.argv.slice(2);
const read = (file) => readFileSync(path.join(root, file), 'utf8');
const { schema: schemaFile, importExtension, generates } = await configOf('codegen.ts');
const schemaAst = lexicographicSortSchema(buildSchema(read(schemaFile)));
const schema = parse(printSchema(schemaAst));

const files = [];
for (const [output, { documents = [], plugins = [], preset, presetConfig = {}, config = {} }] of Object.entries(generates)) {
  if (!output.startsWith(directory)) continue;
  const common = { schema, schemaAst, documents: documentsOf([documents].flat()), config: { ...config, importExtension } };
  const named = { plugins: plugins.map((name) => ({ [name]: {} })), pluginMap: await pluginsOf(plugins) };
  if (preset === undefined) files.push([output, await codegen({ ...common, ...named, filename: output })]);
  else {
    const { preset: { buildGeneratesSection } } = await import(`@graphql-codegen/${preset}-preset`);
    const profiler = { run: (work) => work(), collect: () => [] };
    for (const section of await buildGeneratesSection({ ...common, ...named, baseOutputDir: output, presetConfig, profiler })) {
      files.push([section.filename, await codegen(section)]);
    }
  }
}
rmSync(path.join(root, directory), { recursive: true, force: true });
mkdirSync(path.join(root, directory), { recursive: true });
for (const [file, text] of files) writeFileSync(path.join(root, file), text);

/** The configuration in a TypeScript file that imports types only: this Node may not read TypeScript. */
async function configOf(file) {
  const { code } = await transform(read(file), { loader: 'ts', format: 'esm' });
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).default;
}

async function pluginsOf(names) {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await import(`@graphql-codegen/${name}`)])));
}

/**
 * The operations and fragments in the files that patterns mean: DIRECTORY/*.EXTENSION, or with all folders below it. In a component, they are the texts of its
 * calls of `graphql`. In the order of the command line: by the files' names.
 */
function documentsOf(patterns) {
  return patterns.flatMap(filesOf).toSorted((one, other) => one < other ? -1 : 1).flatMap((location) => {
    const texts = location.endsWith('.graphql') ? [read(location)] : Array.from(read(location).matchAll(/\bgraphql\(`([^`]*)`\)/g), ([, text]) => text);
    return texts.map((text) => ({ location, document: parse(text), rawSDL: text }));
  });
}

function filesOf(pattern) {
  const [, folder, deep, extension] = /^([\w/]+)\/(\*\*\/)?\*(\.\w+)$/.exec(pattern) ?? [];
  if (folder === undefined) throw new Error(`codegen.ts: src/prepare/graphql-code.mjs does not know patterns such as ${pattern}`);
  return readdirSync(path.join(root, folder), { recursive: deep !== undefined })
    .map((name) => path.posix.join(folder, name.replaceAll(path.sep, '/')))
    .filter((name) => name.endsWith(extension) && !name.includes('/generated/'));
}
