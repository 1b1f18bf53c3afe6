import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nodeModule, root, run } from './run.mjs';

const schemaFile = path.join(root, 'prisma', 'schema.prisma');
/** Where the schema for PostgreSQL is written for the time of generating. */
const cacheDir = path.join(root, '.cache', 'prisma');
const generated = path.join(root, 'src', 'store', 'generated');

/** What has to exist for the generated code to count as there. */
export const prismaOutputs = [
  path.join(generated, 'sqlite', 'client.ts'),
  path.join(generated, 'postgresql', 'client.ts'),
  path.join(root, 'src', 'schema', 'generated', 'pothos.ts'),
];

/** What the generated code is made from. */
export const prismaInputs = [schemaFile, nodeModule('prisma', 'package.json'), nodeModule('@pothos', 'plugin-prisma', 'package.json')];

/** Generates the clients for SQLite (with Pothos' types) and PostgreSQL from the one schema. */
export async function generatePrisma() {
  const postgresqlFile = path.join(cacheDir, 'postgresql.prisma');
  mkdirSync(cacheDir, { recursive: true });
  writeFileSync(postgresqlFile, postgresqlSchema(readFileSync(schemaFile, 'utf8'), path.join(generated, 'postgresql')));
  await Promise.all([prismaGenerate(schemaFile), prismaGenerate(postgresqlFile)]);
}

/**
 * The data model for PostgreSQL: another provider, another output, and no Pothos types, for the two clients look alike.
 * @param {string} source prisma/schema.prisma
 * @param {string} output directory of the generated client
 */
export function postgresqlSchema(source, output) {
  const changes = [
    [/^generator pothos \{[^}]*\}\n/m, () => ''],
    [/^(\s*output\s*=\s*)"[^"]*\/generated\/sqlite"/m, (_, key) => key + JSON.stringify(output)],
    [/^(\s*provider\s*=\s*)"sqlite"/m, (_, key) => `${key}"postgresql"`],
  ];
  return changes.reduce((schema, [pattern, replacement]) => {
    if (!pattern.test(schema)) throw new Error(`src/prepare/prisma.mjs finds nothing in prisma/schema.prisma that matches ${pattern}`);
    return schema.replace(pattern, replacement);
  }, source);
}

function prismaGenerate(schema) {
  return run('Generating the database client', [process.execPath, nodeModule('prisma', 'build', 'index.js'), 'generate', '--no-hints', '--schema', schema], {
    env: { ...engineEnvironment(), CHECKPOINT_DISABLE: '1', PRISMA_HIDE_UPDATE_MESSAGE: '1' },
  });
}

/**
 * `prisma generate` insists that a schema engine exists, though it doesn't run it, and downloads one if not. Where none was
 * installed, any existing file keeps it content, so that nothing but the npm registry is needed.
 */
function engineEnvironment() {
  const engines = nodeModule('@prisma', 'engines');
  const installed = existsSync(engines) && readdirSync(engines).some((name) => name.startsWith('schema-engine-'));
  return installed ? {} : { PRISMA_SCHEMA_ENGINE_BINARY: schemaFile };
}
