import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { postgresqlCatalogue, sqliteCatalogue } from '../../prisma/catalogue-adapters.mjs';
import { dataModel } from '../../prisma/data-model.mjs';
import { schemaDiff } from '../../prisma/schema-engine.mjs';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { eachDialect, type TestDatabase } from '../support/database.ts';

eachDialect('the migrations', (databases) => {
  let database: TestDatabase;
  let model: string;

  beforeAll(async () => {
    database = await databases.create();
    await (await database.open()).close();
    model = dataModel(databases.dialect);
  });

  const diff = (wanted: string) => schemaDiff(
    databases.dialect === 'sqlite' ? sqliteCatalogue(path.join(database.dataDir, databaseFileName)) : postgresqlCatalogue(database.url), wanted);

  test('make exactly the tables of schema.prisma', async () => {
    expect(await diff(model)).toBe('');
  });

  test.each([
    ['a column', 'username ', 'shoeSize Int @default(0)\n  username ', /"shoeSize" INTEGER NOT NULL DEFAULT 0/],
    ['a default', 'maxClients   Int       @default(0)', 'maxClients   Int       @default(7)', /DEFAULT 7/],
    ['an index', '@@index([mode, port, id])', '@@index([mode, port, id, remark])', /CREATE INDEX "Tunnel_mode_port_id_remark_idx"/],
    ['a relation', 'onDelete: Cascade', 'onDelete: Restrict', /ON DELETE RESTRICT/],
  ])('are found to lack %s that the schema has', async (_, from, to, sql) => {
    expect(model).toContain(from);
    expect(await diff(model.replace(from, to))).toMatch(sql);
  });
});
