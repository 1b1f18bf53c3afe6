import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { slotLimits } from '../../src/schema/limits/operation-slots.ts';
import { testApis, testAuthKey, signature, type Api } from '../support/api.ts';
import { eitherDialect } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { seedClients, seedHosts, seedTunnels, seedUsers } from '../support/seed.ts';

const list = z.object({ rows: z.array(z.object({ Id: z.number() })), total: z.number() });

eitherDialect('a list without a limit', (databases) => {
  const apis = testApis(databases);
  let api: Api;

  beforeAll(async () => {
    api = await apis.start();
    const [owner = 0] = await seedUsers(api.store, 230);
    const [client = 0] = await seedClients(
      api.store,
      230,
      (n) => ({ userId: n < 3 ? owner : null, blackIpList: n === 1 ? Array.from({ length: 1000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`).join('\n') : '' }),
    );
    await seedTunnels(api.store, client, 430, (n) => ({ clientId: n === 7 ? client + 5 : client, remark: n % 2 === 0 ? 'even' : 'odd' }));
    await seedHosts(api.store, client, 230);
  });

  /** The text of an answer, and whether it came with its length. */
  async function read(path: string, parameters: Readonly<Record<string, string | number>> = {}): Promise<{ text: string; length: string | null }> {
    const all = { ...signature(testAuthKey, Date.now()), ...parameters };
    const response = await fetch(`${api.url}${path}`, {
      method: 'POST',
      body: new URLSearchParams(Object.entries(all).map(([name, value]) => [name, String(value)])),
    });
    return { text: await response.text(), length: response.headers.get('content-length') };
  }

  test.each([['/client/list/', 230], ['/index/gettunnel/', 430], ['/index/hostlist/', 230], ['/user/list/', 230]])(
    '%s has the rows of its pages, and what stands beside them',
    async (path, total) => {
      const whole = await read(path);
      expect(whole.length).toBeNull();
      const pages = await Promise.all(Array.from({ length: Math.ceil(total / 10) }, (_, n) => read(path, { offset: n * 10, limit: 10 })));
      const begin = '{"rows":[';
      const parts = pages.map(({ text }) => {
        const end = text.indexOf(`],"total":${total}`);
        return { rows: text.slice(begin.length, end), rest: text.slice(end) };
      });
      expect(whole.text).toBe(`${begin}${parts.map(({ rows }) => rows).join(',')}${parts[0]?.rest}`);
    },
  );

  test('a list of up to a hundred rows comes in one piece, with its length', async () => {
    for (const parameters of [{ limit: 100 }, { limit: 0 }, { limit: 10 }, { search: 'h11' }, { offset: 150 }] as Record<string, number | string>[]) {
      const { text, length } = await read('/index/hostlist/', parameters);
      expect({ parameters, length }).toEqual({ parameters, length: String(Buffer.byteLength(text)) });
    }
  });

  test.each([
    [{ limit: 250 }, 250, 430],
    [{ limit: 250, offset: 300 }, 130, 430],
    [{ search: 'even' }, 215, 215],
    [{ search: 'even', limit: 150 }, 150, 215],
    [{ search: 'even', offset: 215 }, 0, 215],
    [{ offset: 1000 }, 0, 430],
    [{ type: 'none' }, 0, 0],
  ])('%j', async (parameters, rows, total) => {
    const answer = list.parse(JSON.parse((await read('/index/gettunnel/', parameters)).text));
    expect([answer.rows.length, answer.total]).toEqual([rows, total]);
  });

  /** A connection that asks for a list and reads nothing of it. */
  async function deaf(path: string) {
    const { hostname, port } = new URL(api.url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => undefined).pause();
    await once(socket, 'connect');
    const body = new URLSearchParams(Object.entries(signature(testAuthKey, Date.now())).map(([name, value]) => [name, String(value)])).toString();
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    return socket;
  }

  test('a reader that reads nothing only delays its own list; when it disconnects its slot is released', async () => {
    // Of 430 tunnels, whose client brings a black list of 1,000 addresses, a few fit into the buffers of a connection.
    const readers = await Promise.all(Array.from({ length: slotLimits.running }, () => deaf('/index/gettunnel/')));
    const waiting = deaf('/index/gettunnel/');
    // Bounded lists wait for nobody.
    expect(list.parse(JSON.parse((await read('/index/gettunnel/', { limit: 10 })).text)).rows).toHaveLength(10);
    let over = false;
    const whole = read('/index/gettunnel/').then((answer) => {
      over = true;
      return answer;
    });
    await read('/client/list/', { limit: 10 });
    expect(over).toBe(false);
    for (const reader of [...readers, await waiting]) reader.destroy();
    expect(list.parse(JSON.parse((await whole).text)).rows).toHaveLength(430);
  });

  test('a list that fails after it was begun ends without its end', async () => {
    const { tunnelStates } = api.engine;
    let asked = 0;
    api.engine.tunnelStates = (ids) => ++asked > 2 ? Promise.reject(new Error('broken')) : tunnelStates.call(api.engine, ids);
    try {
      await expect(read('/index/gettunnel/')).rejects.toThrow('terminated');
    } finally {
      api.engine.tunnelStates = tunnelStates;
    }
    await eventually(() => api.log.entries, (entries) => JSON.stringify(entries).includes('broken'));
  });
});
