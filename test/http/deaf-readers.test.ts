import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { slotLimits } from '../../src/schema/limits/operation-slots.ts';
import { eventually } from '../support/eventually.ts';
import { basic, testApps, type TestApp } from '../support/http.ts';
import { seedClients, seedTunnels } from '../support/seed.ts';

const start = testApps();
const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

/** Sends an operation over a connection of its own, of which nothing is read. */
async function deaf({ url }: TestApp, query: string, accept: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  open.push(socket);
  socket.on('error', () => undefined).pause();
  await once(socket, 'connect');
  const body = JSON.stringify({ query });
  socket.write(
    `POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: ${basic().authorization}\r\naccept: ${accept}\r\ncontent-type: application/json\r\ncontent-length: ${
      Buffer.byteLength(body)
    }\r\n\r\n${body}`,
  );
  return socket;
}

/** Clients with as much text as they may have. */
function longClients(app: TestApp): Promise<number[]> {
  return seedClients(app.api.services.store, 30, () => ({ blackIpList: Array.from({ length: 1000 }, (_, n) => `203.0.${n >> 8}.${n & 255}`).join('\n') }));
}

test('a subscriber that reads nothing is cut off when too many events wait, and its place is free', async () => {
  const app = await start();
  const ids = await longClients(app);
  const { services, engine } = app.api;
  const fields = Array.from({ length: 20 }, (_, n) => `a${n}: blocklist`).join(' ');
  await deaf(app, `subscription { clientChanged { client { ${fields} } } }`, 'text/event-stream');
  await eventually(() => services.live.subscribers, (count) => count === 1);
  // 300 KB each: the buffers of the connection are full, and those that follow wait.
  for (let n = 0; n < 40; n++) {
    engine.tell('client', ids[0] ?? 0);
    await new Promise((resolve) => {
      setTimeout(resolve, 60);
    });
  }
  let reported = 0;
  await eventually(
    () => {
      for (const id of ids) engine.tell('client', id);
      reported += ids.length;
      return services.live.subscribers;
    },
    (count) => count === 0,
    50_000,
  );
  expect(reported).toBeGreaterThan(256);
  await eventually(() => app.connections, (count) => count === 0);
});

test('a subscriber that reads nothing is cut off when it has taken nothing for a while', async () => {
  const app = await start({ stalledMs: 500 });
  const ids = await longClients(app);
  const { services, engine } = app.api;
  const fields = Array.from({ length: 20 }, (_, n) => `a${n}: blocklist`).join(' ');
  await deaf(app, `subscription { clientChanged { client { ${fields} } } }`, 'text/event-stream');
  await eventually(() => services.live.subscribers, (count) => count === 1);
  for (let n = 0; n < 60; n++) {
    engine.tell('client', ids[0] ?? 0);
    await new Promise((resolve) => {
      setTimeout(resolve, 60);
    });
    if (services.live.subscribers === 0) break;
  }
  const left = await eventually(() => [services.live.subscribers, app.connections], ([subscribers, connections]) => subscribers === 0 && connections === 0);
  expect(left).toEqual([0, 0]);
}, 20_000);

test('a result that is not read is dropped, and the slot of its operation is released', async () => {
  const app = await start({ stalledMs: 3000 });
  const [client = 0] = await seedClients(app.api.services.store, 1);
  await seedTunnels(app.api.services.store, client, 200, () => ({ localPath: '€'.repeat(4000) }));
  const fields = Array.from({ length: 4 }, (_, n) => `a${n}: localPath`).join(' ');
  // More of them than one caller's operations: those that wait begin when those before are given up.
  await Promise.all(Array.from({ length: 40 }, () => deaf(app, `{ tunnels(limit: 200) { rows { ${fields} } } }`, 'application/json')));
  // The buffers of a connection hold some results whole; the others are cut.
  await eventually(() => app.connections, (count) => count === 40);
  await eventually(() => app.connections, (count) => count < 40);
  const ends = await Promise.all(Array.from({ length: slotLimits.running }, () => app.api.services.slots.take('admin')));
  expect(ends).toHaveLength(slotLimits.running);
  for (const end of ends) end();
}, 40_000);

test('a subscriber that reads gets a comment often enough to stay, and proxies keep nothing back', async () => {
  const app = await start({ stalledMs: 1000 });
  const socket = await deaf(app, 'subscription { clientChanged { id } }', 'text/event-stream');
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  }).resume();
  await eventually(() => text.split(':\n\n').length, (comments) => comments > 8);
  expect(text.toLowerCase()).toContain('\r\nx-accel-buffering: no\r\n');
  expect(text.toLowerCase()).toContain('\r\ncache-control: no-cache\r\n');
  expect(app.api.services.live.subscribers).toBe(1);
});
