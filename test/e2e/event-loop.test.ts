import { afterAll, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { eitherDialect } from '../support/database.ts';
import { HostileUser } from '../support/hostile-user.ts';

eitherDialect('no call holds the event loop for longer than 50 ms of CPU', (databases) => {
  afterAll(() => endChildren());

  test('the widest list of a user, and an introspection', async () => {
    const counts = { clients: 150, tunnels: 600, hosts: 10, longTexts: 0, longLists: 0, longestLists: 0, longestTunnels: 0 };
    const user = await HostileUser.start(databases, counts);
    for (const name of ['the widest list', 'introspection']) {
      expect({ name, problems: await user.operate(name) }).toEqual({ name, problems: [] });
    }
  });
});
