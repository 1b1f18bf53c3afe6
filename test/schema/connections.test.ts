import { expect, test } from '@jest/globals';
import { testDatabases } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';

const databases = testDatabases('sqlite');

test('the open connections of a client are paged; cutting one is audited', async () => {
  const api = await openTestSchema(databases);
  const { id: clientId } = await api.services.store.db.client.create({ data: { vkey: 'k' } });
  const { id: tunnelId } = await api.services.store.db.tunnel.create({ data: { clientId, mode: 'tcp' } });
  for (let n = 0; n < 3; n++) api.engine.addVisitor(clientId, { kind: 'tunnel', id: tunnelId });
  const page =
    '{ connections(clientId: 1, offset: 1, limit: 1) { total rows { id address port since inletBytes exportBytes rate tunnel { id } host { id } } } }';
  expect(await api.ok(page)).toEqual({
    connections: {
      total: 3,
      rows: [
        {
          id: 2,
          address: '192.0.2.1',
          port: 40_000,
          since: '1970-01-01T00:00:00.000Z',
          inletBytes: 1,
          exportBytes: 2,
          rate: 3,
          tunnel: { id: tunnelId },
          host: null,
        },
      ],
    },
  });
  const { id: hostId } = await api.services.store.db.host.create({ data: { clientId, host: 'a.com' } });
  api.engine.addVisitor(clientId, { kind: 'host', id: hostId }, { port: 40_001, since: 1000, inletBytes: 4, exportBytes: 5, rate: 6 });
  expect(await api.ok(page.replace('offset: 1', 'offset: 3'))).toEqual({
    connections: {
      total: 4,
      rows: [{
        id: 4,
        address: '192.0.2.1',
        port: 40_001,
        since: '1970-01-01T00:00:01.000Z',
        inletBytes: 4,
        exportBytes: 5,
        rate: 6,
        tunnel: null,
        host: { id: hostId },
      }],
    },
  });
  expect(await api.ok('mutation { closeConnection(clientId: 1, id: 2) }')).toEqual({ closeConnection: 2 });
  expect(api.engine.closed).toEqual([2]);
  expect(await api.ok('{ auditEntries { rows { resource action resourceId } } }')).toEqual({
    auditEntries: { rows: [{ resource: 'CONNECTION', action: 'DELETE', resourceId: '2' }] },
  });
  expect(await api.code('mutation { closeConnection(clientId: 1, id: 9) }')).toBe('NOT_FOUND');
});
