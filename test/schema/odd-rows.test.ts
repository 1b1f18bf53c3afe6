import { expect, test } from '@jest/globals';
import { allOf } from '../support/all-of.ts';
import { testDatabases } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';
import { seedClients, seedTunnels } from '../support/seed.ts';

const databases = testDatabases('sqlite', { alone: true });

test.each([
  ['a text where numbers and times are', "'odd'"],
  ['a fraction', '1.5'],
  ['a number that is too large', '9e99'],
  ['bytes', "x'00ff'"],
])('a list shows all rows, though another program has put %s into one of them', async (_, odd) => {
  const api = await openTestSchema(databases);
  const { store } = api.services;
  const [first = 0, second = 0, third = 0] = await seedClients(store, 3);
  await seedTunnels(store, first, 2);
  await store.db.$executeRawUnsafe(
    `UPDATE "Client" SET "rateLimit" = ${odd}, "flowLimit" = ${odd}, "inletBytes" = ${odd}, "exportBytes" = ${odd}, "createdAt" = ${odd} WHERE id = ${second}`,
  );
  await store.db.client.update({ where: { id: third }, data: { basicUser: 'rare' } });
  await store.db.$executeRawUnsafe(`UPDATE "Tunnel" SET "inletBytes" = ${odd}, "createdAt" = ${odd} WHERE port = 10001`);
  const clients = await api.ok('{ clients { total rows { id rateLimit flowLimit createdAt runtime { inletBytes exportBytes } } } }', {});
  expect(clients).toMatchObject({
    clients: { total: 3, rows: [{ id: first, rateLimit: null }, { id: second, rateLimit: null, runtime: { inletBytes: expect.any(Number) } }, { id: third }] },
  });
  const tunnels = await api.ok('{ tunnels { total rows { port createdAt runtime { inletBytes } } } }', {});
  expect(tunnels).toMatchObject({ tunnels: { total: 2, rows: [{ port: 10_001 }, { port: 10_002 }] } });
  expect((await allOf((await store.loadEngineState()).clients)).map(({ id, enabled, basicUser }) => [id, enabled, basicUser])).toEqual([
    [first, true, ''],
    [second, true, ''],
    [third, true, 'rare'],
  ]);
});
