import { expect, test } from '@jest/globals';
import { testDatabases } from '../support/database.ts';
import { describeWith } from '../support/programs.ts';
import { openTestSchema } from '../support/schema.ts';

describeWith('initdb', 'servers that drain', () => {
  const databases = testDatabases('postgresql');

  test('at the same moment: the last one goes on', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const running = { address: '', linkPort: 1, tlsPort: 1, version: '1.2.3', startedAt: new Date(), seenAt: new Date() };
    await db.node.createMany({ data: ['one', 'two', 'three'].map((name) => ({ ...running, name, incarnation: name })) });
    // Those that wait for the first one are in one transaction.
    const codes = await Promise.all(['one', 'two', 'three'].map((name) => api.code('mutation ($name: String!) { drainNode(name: $name) { name } }', { name })));
    expect(codes).toEqual([undefined, undefined, 'NODE_ALONE']);
    expect(await api.ok('{ nodes { name draining } }')).toEqual({
      nodes: [{ name: 'one', draining: true }, { name: 'three', draining: false }, { name: 'two', draining: true }],
    });
  });
});
