import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

const clients = async (api: TestSchema, count: number) => {
  const ids: number[] = [];
  for (let n = 0; n < count; n++) ids.push(await api.id('mutation { createClient(input: {}) { id } }'));
  return ids;
};
const change = (of: string) => `mutation ($ids: [ID!]!, $change: ${of}Change!) { change${of}s(ids: $ids, change: $change) { id code message } }`;
const entries = z.object({ auditEntries: z.object({ total: z.number() }) });

eitherDialect('changes of several records', (databases) => {
  test('each record has its own result and audit entry, in the order of the ids; one that fails does not affect the others', async () => {
    const api = await openTestSchema(databases);
    const ids = await clients(api, 20);
    const done = (list: readonly number[]) => list.map((id) => ({ id, code: null, message: null }));
    const [first = 0, ...others] = ids;
    await api.ok(change('Client'), { ids: [first], change: 'DELETE' });
    const before = entries.parse(await api.ok('{ auditEntries { total } }')).auditEntries.total;
    // More than the store writes in one transaction; duplicates count once.
    const { changeClients: results } = z.object({ changeClients: z.array(z.unknown()) }).parse(
      await api.ok(change('Client'), { ids: [...others, first, ...others], change: 'DISABLE' }),
    );
    expect(results).toEqual([...done(others), { id: first, code: 'NOT_FOUND', message: 'client ID not found' }]);
    expect(entries.parse(await api.ok('{ auditEntries { total } }')).auditEntries.total - before).toBe(others.length);
    expect(await api.ok('{ clients(filter: { enabled: true }) { total } }')).toEqual({ clients: { total: 0 } });
    await api.ok(change('Client'), { ids: others, change: 'ENABLE' });
    expect(await api.ok('{ clients(filter: { enabled: true }) { total } }')).toEqual({ clients: { total: others.length } });
  });

  test('tunnels and hosts are started, stopped and deleted', async () => {
    const api = await openTestSchema(databases);
    const [clientId = 0] = await clients(api, 1);
    const tunnel = (port: number) => api.id(`mutation { createTunnel(input: { clientId: ${clientId}, mode: TCP, port: ${port}, targets: ["22"] }) { id } }`);
    const tunnels = [await tunnel(9001), await tunnel(9002)];
    const hosts = [await api.id(`mutation { createHost(input: { clientId: ${clientId}, host: "a.com", targets: ["80"] }) { id } }`)];
    const enabled = async () => await api.ok('{ tunnels(filter: { enabled: true }) { total } hosts(filter: { enabled: true }) { total } }');
    await api.ok(change('Tunnel'), { ids: tunnels, change: 'STOP' });
    await api.ok(change('Host'), { ids: hosts, change: 'STOP' });
    expect(await enabled()).toEqual({ tunnels: { total: 0 }, hosts: { total: 0 } });
    api.engine.taken.add(9002);
    expect(await api.ok(change('Tunnel'), { ids: tunnels, change: 'START' })).toEqual({
      changeTunnels: [{ id: tunnels[0], code: null, message: null }, { id: tunnels[1], code: 'PORT_IN_USE', message: 'port 9002 is in use' }],
    });
    await api.ok(change('Host'), { ids: hosts, change: 'START' });
    expect(await enabled()).toEqual({ tunnels: { total: 1 }, hosts: { total: 1 } });
    await api.ok(change('Tunnel'), { ids: tunnels, change: 'DELETE' });
    await api.ok(change('Host'), { ids: hosts, change: 'DELETE' });
    expect(await api.ok('{ tunnels { total } hosts { total } }')).toEqual({ tunnels: { total: 0 }, hosts: { total: 0 } });
  });

  test('too many ids, and a text that is no id, are refused before anything is changed', async () => {
    const api = await openTestSchema(databases);
    const [id = 0] = await clients(api, 1);
    const many = Array.from({ length: 201 }, (_, n) => String(n + 1));
    expect((await api.run(change('Client'), { ids: many, change: 'DELETE' })).errors).toMatchObject([{
      code: 'INVALID_INPUT',
      extensions: { field: 'ids', most: 200 },
    }]);
    expect((await api.run(change('Client'), { ids: [String(id), 'x'], change: 'DELETE' })).errors).toMatchObject([{ extensions: { field: 'ids.1' } }]);
    expect(await api.ok('{ clients { total } }')).toEqual({ clients: { total: 1 } });
    expect(await api.ok(change('Client'), { ids: [], change: 'DELETE' })).toEqual({ changeClients: [] });
    const same = Array.from({ length: 201 }, () => id);
    expect(await api.ok(change('Client'), { ids: same, change: 'DISABLE' })).toEqual({ changeClients: [{ id, code: null, message: null }] });
  });
});
