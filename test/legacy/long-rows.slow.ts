import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { slotLimits } from '../../src/schema/limits/operation-slots.ts';
import { signature, testApis, testAuthKey, type Api } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';
import { seedClients } from '../support/seed.ts';

// Short form: test/legacy/long-lists.test.ts

const apis = testApis(testDatabases('sqlite'));
const open: Socket[] = [];
let api: Api;
let first = 0;

beforeAll(async () => {
  api = await apis.start();
  [first = 0] = await seedClients(
    api.store,
    12,
    () => ({ blackIpList: Array.from({ length: 80_000 }, (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`).join('\n') }),
  );
});
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

function body(parameters: Readonly<Record<string, number>>): URLSearchParams {
  return new URLSearchParams(Object.entries({ ...signature(testAuthKey, Date.now()), ...parameters }).map(([name, value]) => [name, String(value)]));
}

/** A connection that sends a call and reads nothing. */
async function deaf(path: string, parameters: Readonly<Record<string, number>>): Promise<void> {
  const { hostname, port } = new URL(api.url);
  const socket = connect({ host: hostname, port: Number(port) });
  open.push(socket);
  socket.on('error', () => undefined).pause();
  await once(socket, 'connect');
  const text = body(parameters).toString();
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
}

const post = (path: string, parameters: Readonly<Record<string, number>>) => fetch(`${api.url}${path}`, { method: 'POST', body: body(parameters) });

/** Calls until a call has to wait, since unread ones have all slots of the caller. @returns the answer of that call, once they have disconnected */
async function waitingCall(path: string, parameters: Readonly<Record<string, number>>): Promise<{ readonly text: string; readonly length: string | null }> {
  await Promise.all(Array.from({ length: slotLimits.running }, () => deaf('/client/list/', { limit: 10 })));
  for (;;) {
    const call = post(path, parameters).then(async (response) => ({ text: await response.text(), length: response.headers.get('content-length') }));
    // Short responses wait for nothing.
    const others = (async () => {
      for (let n = 0; n < 20; n++) {
        await (await post('/client/list/', { limit: 0 })).text();
        await (await post('/client/getclient/', { id: 999_999 })).text();
      }
      return 'others';
    })();
    if (await Promise.race([call, others]) !== 'others') continue;
    for (const socket of open.splice(0)) socket.destroy();
    return call;
  }
}

test('a page of ten long rows is sent in parts and has a slot of its caller until it is read; further ones wait', async () => {
  const { text, length } = await waitingCall('/client/list/', { limit: 10 });
  expect(length).toBeNull();
  const { rows, total } = z.object({ rows: z.array(z.object({ Id: z.number(), BlackIpList: z.array(z.string()) })), total: z.number() }).parse(
    JSON.parse(text),
  );
  expect([rows.length, total, rows[9]?.BlackIpList.length]).toEqual([10, 12, 80_000]);
});

test('a long record waits for a slot, too', async () => {
  const { text } = await waitingCall('/client/getclient/', { id: first });
  expect(z.object({ code: z.literal(1), data: z.object({ Id: z.number() }) }).parse(JSON.parse(text)).data.Id).toBe(first);
});
