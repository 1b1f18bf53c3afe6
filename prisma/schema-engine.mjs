import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';

/** Where the data model and the migrations of both databases live. */
export const prismaDir = path.dirname(fileURLToPath(import.meta.url));

/**
 * The SQL that leads from the tables of a database to a data model; '' when they agree. Indexes on expressions and on a
 * part of the rows are not seen: the data model has no words for them.
 * Prisma's own engine, compiled to WebAssembly, does it: the `prisma migrate` command needs a binary that the npm registry lacks.
 * @param {import('@prisma/driver-adapter-utils').SqlMigrationAwareDriverAdapterFactory} adapter of the database to compare
 * @param {string} model text of a Prisma schema for the same database
 * @returns {Promise<string>}
 */
export async function schemaDiff(adapter, model) {
  await instantiate();
  const schema = { files: [{ path: 'schema.prisma', content: model }] };
  const engine = await bindings.SchemaEngine.new(
    { datamodels: [['schema.prisma', model]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory(adapter),
  );
  try {
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', ...schema, configDir: prismaDir },
      to: { tag: 'schemaDatamodel', ...schema },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    });
    return exitCode === 2 ? stdout : '';
  } finally {
    engine.free();
  }
}

let instantiated;

/** The package's own entry imports the .wasm file as a module, which Node can't. */
function instantiate() {
  instantiated ??= (async () => {
    const wasm = await readFile(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg').replace(/\.js$/, '.wasm'));
    const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': bindings });
    bindings.__wbg_set_wasm(instance.exports);
    instance.exports.__wbindgen_start();
  })();
  return instantiated;
}
