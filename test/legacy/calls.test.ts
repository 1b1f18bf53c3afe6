import { connect } from 'node:net';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Route } from '../../src/legacy/route.ts';
import { routes } from '../../src/legacy/routes.ts';
import { sign } from '../../src/legacy/signature.ts';
import { TimeSlices } from '../../src/schema/limits/time-slices.ts';
import { signature, testApis, testAuthKey, type Api, type CallOptions, type Encoding } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';

const apis = testApis(testDatabases('sqlite'));
const encodings: readonly Encoding[] = ['urlencoded', 'multipart', 'json', 'query'];
const denied = (msg: string) => [401, { status: 0, msg }];
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

let api: Api;
beforeAll(async () => {
  api = await apis.start();
  await api.signed('/client/add/', {
    vkey: 'key-1',
    u: 'basic',
    p: 'secret-of-p',
    web_username: 'web',
    web_password: 'secret-of-web',
    ipwhitepass: 'secret-of-ipwhite',
  });
  await api.signed('/index/add/', { client_id: 1, type: 'tcp', port: 9001, target: '127.0.0.1:22' });
});

/** The paths of some rows of the table, as `test.each` takes them. */
function paths(which: (route: Route) => boolean): string[][] {
  return routes.filter(which).map((route) => [route.path]);
}

async function signed(path: string, parameters = {}, options: CallOptions = {}): Promise<[number, unknown]> {
  const { status, body } = await api.signed(path, parameters, options);
  return [status, body];
}

async function call(path: string, parameters = {}, options: CallOptions = {}, on = api): Promise<[number, unknown]> {
  const { status, body } = await on.call(path, parameters, options);
  return [status, body];
}

test('the table says each path once, in lower case', () => {
  const paths = routes.flatMap((route) => [route.path, ...route.aliases]);
  expect(new Set(paths).size).toBe(paths.length);
  for (const path of paths) expect(path).toMatch(/^\/[a-z]+\/[a-z_]+$/);
});

test('a signed GET of a page of the panel is passed on to it', async () => {
  const request = { host: 'a.example', scheme: 'http' };
  expect(await signed('/index/hostdiagnose/', request, { method: 'GET', encoding: 'query' })).toEqual([404, expect.anything()]);
  expect(await signed('/index/hostdiagnose/', request)).toEqual([200, expect.objectContaining({ status: 1 })]);
});

test('the table holds the documented endpoints, and those that the family has beside them: authentication, login, clients, users, tunnels, hosts and global settings', () => {
  expect(routes.map((route) => route.path)).toEqual([
    '/auth/gettime',
    '/auth/getauthkey',
    '/auth/ipwhiteauth',
    '/login/verify',
    '/login/out',
    '/client/list',
    '/client/getclient',
    '/client/add',
    '/client/edit',
    '/client/changestatus',
    '/client/del',
    '/user/list',
    '/user/add',
    '/user/edit',
    '/user/changepassword',
    '/user/changestatus',
    '/user/del',
    '/user/regenerateapikey',
    '/user/revokeapikey',
    '/user/apikeystatus',
    '/index/gettunnel',
    '/index/getonetunnel',
    '/index/add',
    '/index/copy',
    '/index/edit',
    '/index/stop',
    '/index/start',
    '/index/del',
    '/index/hostlist',
    '/index/gethost',
    '/index/addhost',
    '/index/edithost',
    '/index/hoststop',
    '/index/hoststart',
    '/index/delhost',
    '/index/platformhostavailable',
    '/index/hostdiagnose',
    '/global/index',
    '/global/save',
  ]);
});

// The login is proven by test/http/login.test.ts.
describe.each(routes.filter(({ path }) => !path.startsWith('/login/')).map((route) => [route.path, route] as const))('%s', (path, route) => {
  const open = path.startsWith('/auth/');

  test('admits exactly the documented callers', async () => {
    expect(route.access).toBe(open ? 'anyone' : 'caller');
    expect((await call(path))[0]).toBe(open ? 200 : 401);
    // No record has this id, so nothing changes; what a call without parameters makes is of no matter here.
    expect((await signed(path, { id: 987654 }))[0]).toBe(200);
  });

  test('answers in the shape of its kind, as JSON that nobody keeps', async () => {
    const { body, headers } = await api.signed(path, { id: 987654 });
    const shapes = {
      write: { status: expect.any(Number), msg: expect.any(String) },
      single: { code: 0 },
      list: { rows: expect.any(Array), total: expect.any(Number) },
      raw: {},
    };
    expect(body).toMatchObject(shapes[route.envelope]);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('has a line of documentation', () => expect(route.summary).toMatch(/^[A-Z].+\.$/));
});

test.each(paths((route) => route.access === 'caller'))('%s refuses every signature that is not valid, with one line', async (path) => {
  const now = Math.floor(Date.now() / 1000);
  expect(await call(path, { id: 1 })).toEqual(denied('missing auth_key/timestamp'));
  expect(await call(path, { id: 1, ...signature('another key', Date.now()) })).toEqual(denied('bad auth_key'));
  expect((await call(path, { id: 1, ...signature(testAuthKey, (now - 3600) * 1000) }))[1])
    .toEqual({ status: 0, msg: expect.stringMatching(/^timestamp outside the 20 second window \(server time \d{10}\)$/) });
});

describe('the signature', () => {
  test.each(encodings)('and every other parameter travel as %s', async (encoding) => {
    expect(await signed('/index/getonetunnel/', { id: 1 }, { encoding })).toEqual(await signed('/index/getonetunnel/', { id: 1 }));
    const edit = { id: 1, remark: `sent as ${encoding} é&=+`, port: 9001, local_proxy: false };
    expect(await signed('/index/edit/', edit, { encoding })).toEqual([200, { status: 1, msg: 'modified success' }]);
    expect(await signed('/index/getonetunnel/', { id: 1 })).toMatchObject([200, { code: 1, data: { Remark: edit.remark, Port: 9001 } }]);
  });

  test('may be in the query while the rest is in the body', async () => {
    const { auth_key: key, timestamp } = signature(testAuthKey, Date.now());
    const query = `?auth_key=${key}&timestamp=${timestamp}`;
    for (const encoding of ['urlencoded', 'multipart', 'json'] as const) {
      expect(await call(`/client/getclient/${query}`, { id: 1 }, { encoding })).toEqual(await signed('/client/getclient/', { id: 1 }));
    }
  });

  test('opens and closes exactly with the window', async () => {
    const server = await apis.start();
    const now = 1_700_000_000;
    server.clock.now = now * 1000 + 500;
    const at = async (offset: number) => call('/client/list/', { auth_key: sign(testAuthKey, now + offset), timestamp: now + offset }, {}, server);
    const outside = denied('timestamp outside the 20 second window (server time 1700000000)');
    for (const offset of [-20, 0, 20]) expect((await at(offset))[0]).toBe(200);
    for (const offset of [-21, 21]) expect(await at(offset)).toEqual(outside);
    server.clock.now = (now + 20) * 1000 + 999;
    expect((await at(0))[0]).toBe(200);
    server.clock.now = (now + 21) * 1000;
    expect(await at(0)).toEqual(denied('timestamp outside the 20 second window (server time 1700000021)'));
  });

  test('is never valid while the key is empty', async () => {
    const off = await apis.start({ authKey: '' });
    expect(await call('/client/list/', signature('', Date.now()), {}, off))
      .toEqual(denied('bad auth_key (the signed API is off: the configured auth_key is empty or well known)'));
  });
});

describe('a browser', () => {
  test.each(['/client/list/', '/client/add/', '/index/gettunnel'])('that opens %s is led to the login', async (path) => {
    for (const accept of [html.accept, 'application/xhtml+xml, text/html;q=0.9']) {
      const { status, body, headers } = await api.call(path, {}, { method: 'GET', encoding: 'query', headers: { accept } });
      expect([status, headers.get('location'), body]).toEqual([302, '/login/index', '']);
    }
  });

  test('that sends a signature is answered like a program', async () => {
    expect(await signed('/client/getclient/', { id: 1 }, { method: 'GET', encoding: 'query', headers: html }))
      .toEqual(await signed('/client/getclient/', { id: 1 }));
    expect(await call('/client/list/?timestamp=1', {}, { method: 'GET', headers: html, encoding: 'query' })).toEqual(denied('missing auth_key/timestamp'));
  });

  test('cannot change anything by opening a page', async () => {
    expect((await signed('/client/del/', { id: 1 }, { method: 'GET', encoding: 'query', headers: html }))[0]).toBe(405);
    expect((await signed('/client/getclient/', { id: 1 }))[1]).toMatchObject({ code: 1 });
  });

  test('that posts is answered like a program', async () => {
    expect(await call('/client/list/', {}, { headers: html })).toEqual(denied('missing auth_key/timestamp'));
  });

  test('reads the time', async () => {
    expect((await call('/auth/gettime/', {}, { method: 'GET', encoding: 'query', headers: html }))[0]).toBe(200);
  });
});

describe('the setting apiAuthFailureStatus 302', () => {
  test('leads callers with a bad signature to the login, below the base path', async () => {
    const old = await apis.start({ apiAuthFailureStatus: 302, basePath: '/nps' });
    for (const parameters of [{}, signature('another key', Date.now()), signature(testAuthKey, 0)]) {
      const { status, headers, body } = await old.call('/client/list/', parameters);
      expect([status, headers.get('location'), body]).toEqual([302, '/nps/login/index', '']);
    }
    expect((await old.signed('/client/list/')).status).toBe(200);
  });
});

describe('a request that cannot be read', () => {
  const send = async (body: string, type: string): Promise<[number, unknown]> => {
    const response = await fetch(`${api.url}/client/list/`, { method: 'POST', body, headers: { 'content-type': type } });
    return [response.status, await response.json()];
  };
  test.each([
    ['broken JSON', '{"id":', 'application/json', [400, { status: 0, msg: 'the JSON request body is broken' }]],
    ['no object', '[]', 'application/json', [400, { status: 0, msg: 'the JSON request body must be an object' }]],
    ['broken multipart', '--x', 'multipart/form-data; boundary=x', [400, { status: 0, msg: 'the multipart request body is broken' }]],
    ['3 MB and a byte', 'a'.repeat(3 * 1024 * 1024 + 1), 'application/x-www-form-urlencoded', [413, {
      status: 0,
      msg: 'the request body is larger than 3 MB',
    }]],
    ['201 parameters', '&'.repeat(200), 'application/x-www-form-urlencoded', [400, { status: 0, msg: 'too many parameters (at most 200)' }]],
  ])('(%s) gets one line', async (_, body, type, answer) => {
    expect(await send(body, type)).toEqual(answer);
    expect((await signed('/client/list/'))[0]).toBe(200);
  });
});

test('a body without end is cut off after 4 MB', async () => {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.on('error', () => undefined); // how the end of the connection looks while writing
  socket.write('POST /client/list/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n');
  const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
  const write = (): void => {
    while (!socket.destroyed) if (!socket.write(chunk)) return void socket.once('drain', write);
  };
  write();
  socket.resume();
  await new Promise((resolve) => {
    socket.once('close', resolve);
  });
  // What the kernel's buffers hold comes on top.
  expect(socket.bytesWritten).toBeLessThan(32 * 1024 * 1024);
});

test('slashes that follow one another are one, below a base path too', async () => {
  const based = await apis.start({ basePath: '/nps' });
  for (const [of, path] of [[api, '//client/list/'], [api, '///client////list//'], [based, '//client//list/']] as const) {
    expect([path, (await of.signed(path)).status]).toEqual([path, 200]);
  }
});

test('a path that is not in the table goes on to the next handler', async () => {
  for (const path of ['/', '/client', '/client/', '/client/lists', '/api/system/health', '/x/client/list', '//x//client/list', '/client%2Flist']) {
    expect([path, (await signed(path))[0]]).toEqual([path, 404]);
  }
});

test('no answer may be kept by anybody on the way; a method that is not allowed says which are', async () => {
  const [list, record, refused, outsider, wrong] = [
    await api.signed('/client/list/'),
    await api.signed('/client/getclient/', { id: 1 }),
    await api.signed('/client/del/', { id: 99 }),
    await api.call('/auth/gettime/'),
    await api.signed('/client/del/', { id: 99 }, { method: 'GET', encoding: 'query' }),
  ];
  for (const { headers } of [list, record, refused, outsider, wrong]) {
    expect([headers.get('cache-control'), headers.get('content-type')]).toEqual(['no-store', 'application/json; charset=utf-8']);
  }
  expect([wrong.status, wrong.headers.get('allow'), list.headers.get('allow')]).toEqual([405, 'POST', null]);
});

test('a call waits for a time slice of its address, before anybody knows who sends it', async () => {
  const next = jest.spyOn(TimeSlices.prototype, 'next');
  await api.call('/auth/gettime/');
  await api.call('/client/list/', { auth_key: 'wrong', timestamp: 0 });
  expect(next.mock.calls).toEqual([['127.0.0.1'], ['127.0.0.1']]);
  next.mockRestore();
});

test.each(['/auth/ipwhiteauth/', '/login/verify/'])('%s takes no password in an address, which proxies keep in their logs', async (path) => {
  const { status, headers } = await api.call(path, {}, { method: 'GET', encoding: 'query' });
  expect([status, headers.get('allow')]).toEqual([405, 'POST']);
});

test('HEAD is answered as GET without a body', async () => {
  const { status, body } = await api.signed('/client/list/', {}, { method: 'HEAD', encoding: 'query' });
  expect([status, body]).toEqual([200, '']);
});

test('no answer holds a secret', async () => {
  const calls = routes.filter((route) => route.envelope !== 'write').flatMap((route) =>
    [{}, { id: 1 }, { search: 'secret-of' }].map((parameters) => signed(route.path, parameters))
  );
  const edits = [{ id: 1, p: 'secret-of-new-p' }, { id: 1, web_password: 'secret-of-new-web', rate_limit: 'x' }].map((edit) => signed('/client/edit/', edit));
  const answers = JSON.stringify(await Promise.all([...calls, ...edits]));
  expect(answers).toContain('key-1');
  for (const secret of ['secret-of', '$argon2', testAuthKey, 'sixteen letters.']) expect(answers).not.toContain(secret);
});

test('ip is the host the caller used, without port and brackets', async () => {
  const { request } = await import('node:http');
  const ipFor = (host: string) =>
    new Promise((resolve, reject) => {
      const { auth_key: key, timestamp } = signature(testAuthKey, Date.now());
      request(`${api.url}/client/list/?auth_key=${key}&timestamp=${timestamp}`, { headers: { host } }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on('end', () => resolve(JSON.parse(text).ip));
      }).on('error', reject).end();
    });
  expect(await Promise.all(['nps.example.com', 'nps.example.com:8080', 'localhost:8080', '[2001:db8::1]:8080', '[::1]', '192.0.2.1:80'].map(ipFor)))
    .toEqual(['nps.example.com', 'nps.example.com', 'localhost', '2001:db8::1', '::1', '192.0.2.1']);
});

test('an internal error only returns an id', async () => {
  const broken = await apis.start();
  await broken.store.db.$executeRaw`DROP TABLE "Total"`;
  const parameters = signature(testAuthKey, Date.now());
  const masked = expect.stringMatching(/^internal error [0-9a-f-]{36}$/);
  const [status, body] = await call('/client/add/', parameters, {}, broken);
  expect([status, body]).toEqual([500, { status: 0, msg: masked }]);
  const { errorId, path, err } = await broken.log.line(/^a legacy call failed$/);
  expect([body, path, err]).toEqual([
    { status: 0, msg: `internal error ${String(errorId)}` },
    '/client/add',
    expect.objectContaining({ message: expect.stringContaining('Total') }),
  ]);
  const emptied = await apis.start();
  await emptied.store.db.$executeRaw`ALTER TABLE "Client" RENAME TO "Gone"`;
  expect(await call('/client/getclient/', { id: 1, ...parameters }, {}, emptied)).toEqual([500, { code: 0, msg: masked }]);
  await emptied.store.db.$executeRaw`ALTER TABLE "Gone" RENAME TO "Client"`;
});
