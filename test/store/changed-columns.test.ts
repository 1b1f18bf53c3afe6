import { expect, test } from '@jest/globals';
import { testDatabases } from '../support/database.ts';
import { describeWith } from '../support/programs.ts';
import { seedClients } from '../support/seed.ts';

describeWith('initdb', 'prepared statements on PostgreSQL', () => {
  const databases = testDatabases('postgresql');

  test('go on after a server of a later version has added a column', async () => {
    const store = await databases.openEmpty();
    const ids = await seedClients(store, 2);
    const read = async () => (await store.changed('Client', ids)).map(({ id }) => id);
    expect(await read()).toEqual(ids);
    await store.db.$executeRaw`ALTER TABLE "Client" ADD COLUMN later integer`;
    expect(await read()).toEqual(ids);
    expect(await read()).toEqual(ids);
  });
});
