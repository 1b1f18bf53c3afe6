import { readFileSync } from 'node:fs';
import { expect, jest, test } from '@jest/globals';
import type { RequestHandler } from 'express';
import pino from 'pino';
import { NotReadyError } from '../../src/http/health.ts';
import { AditError } from '../../src/schema/errors.ts';
import { basic, testApps } from '../support/http.ts';

const start = testApps();

test('an unknown path is answered in the legacy format', async () => {
  const app = await start();
  for (const path of ['/nothing', '/api/system/health', '/graphqlx', '/login', '/%ff']) {
    const response = await fetch(`${app.url}${path}`, { method: 'POST' });
    expect([response.status, await response.json()]).toEqual([404, { status: 0, msg: 'not found' }]);
  }
});

test('everything moves below the base path, and nothing is left outside', async () => {
  const answers = (path: string): RequestHandler => (request, response, next) => {
    if (request.path === path) response.end();
    else next();
  };
  const app = await start({ settings: { basePath: '/a/b', trustedProxies: [] }, legacy: answers('/client/list'), metrics: answers('/metrics') });
  for (const path of ['/', '/healthz', '/login/index', '/agent/adit-agent.mjs']) expect((await fetch(`${app.url}${path}`)).status).toBe(200);
  expect(await (await app.graphql({ query: '{ server { version } }' })).json()).toEqual({ data: { server: { version: '1.2.3' } } });
  const statuses = (base: string) =>
    Promise.all(
      ['/', '/healthz', '/graphql', '/api', '/openapi.json', '/client/list', '/metrics', '/audit/download.csv', '/agent/adit-agent.mjs', '/agent/install.sh']
        .map(async (path) => (await fetch(`${base}${path}`, { headers: basic() })).status),
    );
  expect(await statuses(app.url)).not.toContain(404);
  expect(new Set(await statuses(new URL(app.url).origin))).toEqual(new Set([404]));
});

test('answers say that nothing may be loaded or framed, and not what serves them', async () => {
  const app = await start();
  const { headers } = await fetch(`${app.url}/healthz`);
  expect(headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'");
  const security = [...headers].filter(([name]) => /^(x|cross|origin|referrer|strict)-/.test(name));
  expect(Object.fromEntries(security)).toEqual({
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'origin-agent-cluster': '?1',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-dns-prefetch-control': 'off',
    'x-download-options': 'noopen',
    'x-frame-options': 'SAMEORIGIN',
    'x-permitted-cross-domain-policies': 'none',
    'x-xss-protection': '0',
  });
});

test('a server that serves HTTPS itself says that browsers must use it from now on', async () => {
  const app = await start({ overTls: true });
  expect((await fetch(`${app.url}/healthz`)).headers.get('strict-transport-security')).toBe('max-age=31536000');
});

test('a server that is not known to be reached over HTTPS sends no script that installs agents', async () => {
  const app = await start();
  const response = await fetch(`${app.url}/agent/install.sh`);
  expect([response.status, await response.text()]).toEqual([409, expect.stringContaining('not known to be reached over HTTPS')]);
});

test('an executable of the agent that the operator has not put there is not found', async () => {
  const app = await start();
  expect((await fetch(`${app.url}/agent/adit-agent-linux-x64`)).status).toBe(404);
});

test('an unexpected error of an enrolment is not answered as a refusal', async () => {
  let isBroken = false;
  const app = await start({
    now: () => {
      if (isBroken) throw new Error('hush');
      return Date.now();
    },
  });
  const enrol = async (): Promise<readonly [number, boolean]> => {
    const response = await fetch(`${app.url}/agent/enrol`, { method: 'POST', body: new URLSearchParams({ code: 'guessed', machine: 'm'.repeat(32) }) });
    return [response.status, (await response.text()).includes('hush')];
  };
  expect(await enrol()).toEqual([403, false]);
  isBroken = true;
  expect(await enrol()).toEqual([500, false]);
});

test("an error with a server's status is reported as an unexpected one, without its text", async () => {
  const app = await start({ metrics: (_request, _response, next) => next(Object.assign(new Error('hush'), { status: 502 })) });
  const response = await fetch(`${app.url}/metrics`);
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain('hush');
});

test('the pages of the panel are one document below the base path, which loads scripts and styles from this server alone', async () => {
  const app = await start({ settings: { basePath: '/a/b', trustedProxies: [] } });
  // From each page somebody may come back to it, or begin there.
  const own = readFileSync(new URL('../../src/panel/routes.tsx', import.meta.url), 'utf8').match(/(?<=')\/[\w-][\w/:-]*(?=')/g) ?? [];
  expect(own.length).toBeGreaterThan(20);
  for (
    const path of [
      '/',
      '/login/index',
      '/clients',
      '/clients/3/edit',
      '/index/hostdiagnose',
      '/global/index',
      ...own.map((each) => each.replaceAll(/:\w+/g, '3')),
    ]
  ) {
    const response = await fetch(`${app.url}${path}`);
    const page = await response.text();
    expect([path, response.status, response.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8']);
    expect(page).toContain('<meta name="adit-base" content="/a/b">');
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(page).not.toMatch(/<style|<script>|style=| on\w+=|https?:/);
  }
  for (const path of ['/clientsx', '/panel/../package.json', '/panel/%2e%2e%2findex.html', '/panel/index.html']) {
    expect((await fetch(`${app.url}${path}`)).status).toBe(404);
  }
});

test('the scripts of the panel are sent compressed as the browser accepts, and may be kept', async () => {
  const app = await start();
  const page = await (await fetch(app.url)).text();
  const script = /src="(\/panel\/index-[^"]+\.js)"/.exec(page)?.[1] ?? '';
  const style = await fetch(new URL(/href="(\/panel\/[^"]+\.css)"/.exec(page)?.[1] ?? '', app.url));
  expect([style.status, style.headers.get('content-type'), style.headers.get('vary')]).toEqual([200, 'text/css; charset=utf-8', 'Accept-Encoding']);
  const texts = new Set<string>();
  for (const [accept, encoding] of [['br, gzip', 'br'], ['gzip', 'gzip'], ['identity', null]] as const) {
    const response = await fetch(new URL(script, app.url), { headers: { 'accept-encoding': accept } });
    expect([response.status, response.headers.get('content-type'), response.headers.get('content-encoding')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
      encoding,
    ]);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('last-modified')).toBeNull();
    texts.add(await response.text());
  }
  expect(texts.size).toBe(1);
  expect((await fetch(new URL(`${script}.br`, app.url))).status).toBe(404);
});

test('the login page has a form for browsers without scripts', async () => {
  const app = await start({ settings: { basePath: '/a/b', trustedProxies: [] } });
  const response = await fetch(`${app.url}/login/index`);
  const page = await response.text();
  expect(/<form [^>]*>/.exec(page)?.[0]).toBe('<form method="post" action="/a/b/login/verify">');
  expect(page).toMatch(/<input name="username"[^]*<input name="password" type="password"[^]*<button>/);
  expect(response.headers.get('content-security-policy')).toContain("form-action 'self'");
  expect(response.headers.get('referrer-policy')).toBe('same-origin');
});

test('ready means that every check passes; what fails is named, why is for the log', async () => {
  let broken = false;
  const entries: string[] = [];
  const app = await start({
    health: {
      database: () => {
        if (broken) throw new Error('secret detail');
      },
      bridge: async () => undefined,
    },
    log: pino({}, { write: (line: string) => entries.push(line) }),
  });
  const ready = async () => {
    const response = await fetch(`${app.url}/readyz`);
    const body: unknown = await response.json();
    return [response.status, body];
  };
  const [started, cleared] = [jest.spyOn(globalThis, 'setTimeout'), jest.spyOn(globalThis, 'clearTimeout')];
  expect(await ready()).toEqual([200, { status: 'ready' }]);
  const timers = started.mock.results.filter((_, index) => started.mock.calls[index]?.[1] === 2000).map(({ value }) => value);
  expect(timers.length).toBe(2);
  expect(cleared.mock.calls.map(([timer]) => timer)).toEqual(expect.arrayContaining(timers));
  started.mockRestore();
  cleared.mockRestore();
  broken = true;
  expect(await ready()).toEqual([503, { status: 'not ready', failed: ['database'] }]);
  expect(entries.join()).toContain('secret detail');
  expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
});

test('a check without an answer fails; codes and reasons that anyone may know are in the body', async () => {
  const app = await start({
    health: {
      silent: () => new Promise(() => undefined),
      database: () => {
        throw new AditError('DATABASE_FULL');
      },
      bridge: async () => {
        throw new NotReadyError('it is closed');
      },
      fine: () => undefined,
      odd: () => Promise.reject(new Error('hush')),
    },
  });
  const response = await fetch(`${app.url}/readyz`);
  expect([response.status, response.headers.get('cache-control'), await response.json()]).toEqual([503, 'no-store', {
    status: 'not ready',
    failed: ['silent', 'database', 'bridge', 'odd'],
    codes: { database: 'DATABASE_FULL' },
    reasons: { bridge: 'it is closed' },
  }]);
});

test('a fault of a route is logged with an id; the caller gets the id and nothing else', async () => {
  const entries: string[] = [];
  const app = await start({
    legacy: () => {
      throw new Error('secret detail');
    },
    log: pino({}, { write: (line: string) => entries.push(line) }),
  });
  const response = await fetch(`${app.url}/client/list`);
  const body = await response.text();
  expect(response.status).toBe(500);
  expect(body).toMatch(/^\{"status":0,"msg":"internal error [0-9a-f-]{36}"\}$/);
  expect(entries.join()).toContain('secret detail');
  expect(entries.join()).toContain(/[0-9a-f-]{36}/.exec(body)?.[0]);
});

test('what the body readers refuse is one clear line', async () => {
  const app = await start({ legacy: (request, _response, next) => next(Object.assign(new Error('inside'), { status: Number(request.get('x-status')) })) });
  for (
    const [status, msg] of [
      [400, 'the request is malformed'],
      [413, 'the request body is larger than 256 KB'],
      [415, 'the encoding of the request body is not supported'],
      [499, 'bad request'],
    ] as const
  ) {
    const response = await fetch(`${app.url}/x`, { method: 'POST', headers: { 'x-status': String(status) } });
    expect([response.status, await response.json()]).toEqual([status, { status: 0, msg }]);
  }
  for (const status of ['399', '500']) expect((await fetch(`${app.url}/x`, { headers: { 'x-status': status } })).status).toBe(500);
});

test('a route that the database has no answer for is answered with 503', async () => {
  const app = await start({ legacy: (_request, _response, next) => next(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })) });
  expect((await fetch(`${app.url}/x`)).status).toBe(503);
});

test('slashes before the base path are one', async () => {
  const app = await start({ settings: { basePath: '/base', trustedProxies: [] } });
  const { origin } = new URL(app.url);
  const statuses = await Promise.all(
    ['/base/openapi.json', '//base/openapi.json', '///base/openapi.json', '//other/openapi.json'].map(async (path) => (await fetch(`${origin}${path}`)).status),
  );
  expect(statuses).toEqual([200, 200, 200, 404]);
});

test('the legacy API is described and can be tried below the base path, by a page that loads nothing from elsewhere', async () => {
  const app = await start({ settings: { basePath: '/base', trustedProxies: [] } });
  const described = await fetch(`${app.url}/openapi.json`);
  expect(described.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(described.headers.get('etag')).toMatch(/^"[\w-]{43}"$/);
  const description: unknown = await described.json();
  expect(description).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' }, servers: [{ url: '/base' }], paths: { '/client/list/': { post: {} } } });
  const response = await fetch(`${app.url}/api`);
  const html = await response.text();
  expect(html).toContain('<meta name="adit-base" content="/base">');
  const loaded = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url).filter((url) => url !== 'data:,');
  expect(loaded.filter((url) => !/^\/base\/panel\/[\w-]+\.(js|css)$/.test(url))).toEqual(['/base/openapi.json']);
  expect(loaded).toContainEqual(expect.stringMatching(/^\/base\/panel\/api-[\w-]+\.js$/));
  for (const url of loaded) expect((await fetch(new URL(url, app.url))).status).toBe(200);
  const policy = (response.headers.get('content-security-policy') ?? '').split('; ');
  expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]));
});
