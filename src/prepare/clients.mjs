// Generates the database clients for SQLite (with Pothos' types) and PostgreSQL, as `prisma generate` does: that command would install 230 MB more.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import internals from '@prisma/internals';
import { dataModel } from '../../prisma/data-model.mjs';
import { root } from './run.mjs';

// Its ES module imports directories, which Node refuses.
const { PrismaClientTsGenerator } = createRequire(import.meta.url)('@prisma/client-generator-ts');

const directory = path.join(root, '.cache', 'prisma');
const registry = {
  'prisma-client': { type: 'in-process', generator: new PrismaClientTsGenerator() },
  'prisma-pothos-types': { type: 'rpc', generatorPath: path.join(root, 'node_modules/@pothos/plugin-prisma/bin/generator.js'), isNode: true },
};

mkdirSync(directory, { recursive: true });
for (const dialect of ['sqlite', 'postgresql']) {
  const file = path.join(directory, `${dialect}.prisma`);
  writeFileSync(file, dataModel(dialect));
  const schemaContext = await internals.loadSchemaContext({ schemaPath: { cliProvidedPath: file }, printLoadMessage: false });
  const generators = await internals.getGenerators({ schemaContext, registry, cliCommand: 'node src/prepare.mjs', skipDownload: true });
  for (const generator of generators) {
    await generator.generate();
    generator.stop();
  }
}
