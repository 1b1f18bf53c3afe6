import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { closed, roundTrip, startEcho, visit } from '../support/target.ts';
import { CLIENT, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';

test('open connections are listed with visitor, tunnel, start time and bytes; closing one closes it on both sides', async () => {
  const server = await startEngine();
  await startAgent(server);
  const before = Date.now();
  const { id, port } = await openTunnel(server, { targets: [(await startEcho()).address] });
  const [one, two] = [await visit(port), await visit(port)];
  await roundTrip(one, 'hello');
  await roundTrip(two, 'hello there');
  const all = () => server.engine.connections(CLIENT.id, { offset: 0, limit: 10 }).rows;
  const states = all();
  expect(states).toMatchObject([
    { clientId: CLIENT.id, through: { kind: 'tunnel', id }, address: '127.0.0.1', port: one.localPort, inletBytes: 5, exportBytes: 5 },
    { port: two.localPort, inletBytes: 11, exportBytes: 11 },
  ]);
  expect(server.engine.connections(CLIENT.id, { offset: 1, limit: 1 })).toMatchObject({ rows: [{ port: two.localPort }], total: 2 });
  expect(server.engine.connections(CLIENT.id, { offset: 0, limit: 1 })).toMatchObject({ rows: [{ port: one.localPort }], total: 2 });
  expect(states[0]?.since).toBeGreaterThanOrEqual(before);
  await eventually(() => all()[1]?.rate, (rate) => rate === 22);

  expect(server.engine.closeConnection(CLIENT.id, 0)).toBeUndefined();
  expect(server.engine.closeConnection(CLIENT.id, states[0]?.id ?? 0)).toMatchObject({ id: states[0]?.id });
  await closed(one);
  expect(all().map(({ port: visitor }) => visitor)).toEqual([two.localPort]);
  await roundTrip(two, 'still here');
});
