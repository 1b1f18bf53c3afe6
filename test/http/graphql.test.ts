import http from 'node:http';
import { describe, expect, jest, test } from '@jest/globals';
import { getIntrospectionQuery, parse, validate } from 'graphql';
import { exampleTabs } from '../../src/panel/graphiql/examples.ts';
import { limits } from '../../src/http/graphql-limits.ts';
import { sign } from '../../src/legacy/signature.ts';
import { newToken } from '../../src/schema/access/tokens.ts';
import { HeldRecords } from '../../src/schema/limits/held-records.ts';
import { schema } from '../../src/schema/schema.ts';
import { basic, credentials, testApps } from '../support/http.ts';
import { seedClients } from '../support/seed.ts';

const start = testApps();
const query = { query: '{ clients { total } }' };
const answer = { data: { clients: { total: 0 } } };

/** A request with the headers of a browser: fetch would add its own. */
function get(url: string, headers: Readonly<Record<string, string>>, method = 'GET'): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    http.request(url, { method, headers }, (response) => resolve(response.resume())).on('error', reject).end();
  });
}

/** The body of the response to a refused request. */
const refusal = async (response: Response) => ({ status: response.status, body: await response.json() as unknown });
const error = (code: string, message: unknown = expect.any(String)) => ({ errors: [{ message, extensions: { code } }] });

test('each address of a list is an item of its own', async () => {
  const app = await start();
  const response = await app.graphql({ query: 'mutation { createClient(input: { blocklist: ["192.0.2.1", "192.0.2.0/24"] }) { blocklist } }' });
  expect(await response.json()).toEqual({ data: { createClient: { blocklist: ['192.0.2.1', '192.0.2.0/24'] } } });
});

test('an operation waits for time slices at each step: first of the address, then of the account, with which it shares the records that may be held', async () => {
  const app = await start();
  const { store, timeSlices } = app.api.services;
  const { id: userId } = await store.db.user.create({ data: { username: 'alice', passwordHash: '' } });
  await seedClients(store, 1, () => ({ userId }));
  const { token, hash } = newToken();
  await store.db.apiToken.create({ data: { userId, name: 'test', hash } });
  const [next, held] = [jest.spyOn(timeSlices, 'next'), jest.spyOn(HeldRecords.prototype, 'of')];
  const response = await app.graphql({ query: '{ clients { rows { remark } } }' }, { authorization: `Bearer ${token}` });
  expect(await response.json()).toEqual({ data: { clients: { rows: [{ remark: 'office 1' }] } } });
  // Before it is parsed, and before it runs; for its list, and for the page of it; twice for the result.
  const steps = Array.from({ length: 6 }, () => `user ${userId}`);
  expect(next.mock.calls.map(([share]) => share)).toEqual([expect.stringContaining('127.0.0.1'), ...steps]);
  expect(held.mock.calls).toEqual([[`user ${userId}`]]);
  held.mockRestore();
});

describe('authentication', () => {
  test('the administrator by name and password; nobody without', async () => {
    const app = await start();
    expect(await (await app.graphql(query)).json()).toEqual(answer);
    const refused = await app.graphql(query, {});
    expect(await refusal(refused)).toEqual({ status: 401, body: error('UNAUTHENTICATED', 'authentication required') });
    for (const wrong of [basic('admin', 'wrong'), basic('Admin'), basic('', ''), { authorization: 'Basic !' }, { authorization: 'Bearer x' }]) {
      expect(await refusal(await app.graphql(query, wrong))).toMatchObject({ status: 401, body: error('UNAUTHENTICATED') });
    }
  });

  test.each([
    ['a page that a person opens', { accept: 'text/html,*/*' }, true],
    ['such a page of a newer browser', { accept: 'text/html', 'sec-fetch-mode': 'navigate' }, true],
    ['what a page requests by itself', { accept: 'text/html', 'sec-fetch-mode': 'cors' }, false],
    ['a program', { accept: 'application/json' }, false],
  ])('a browser is asked for name and password only where that does not surprise: %s', async (_who, headers, asked) => {
    const app = await start();
    const refused = await get(`${app.url}/graphql`, headers);
    expect([refused.statusCode, refused.headers['www-authenticate']]).toEqual([401, asked ? 'Basic realm="adit", charset="UTF-8"' : undefined]);
    const posted = await get(`${app.url}/graphql`, headers, 'POST');
    expect([posted.statusCode, posted.headers['www-authenticate']]).toEqual([401, undefined]);
  });

  test('a signature, as query parameters or headers; a wrong one is refused even with the right password', async () => {
    const now = Date.now();
    const app = await start({ now: () => now });
    const timestamp = Math.floor(now / 1000);
    const headers = { 'x-adit-auth-key': sign(credentials.authKey, timestamp), 'x-adit-timestamp': String(timestamp) };
    expect(await (await app.graphql(query, headers)).json()).toEqual(answer);
    const inQuery = new URLSearchParams({ auth_key: headers['x-adit-auth-key'], timestamp: headers['x-adit-timestamp'] }).toString();
    const signed = await fetch(`${app.url}/graphql?${inQuery}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(query),
    });
    expect(await signed.json()).toEqual(answer);
    // Headers go before parameters.
    expect(
      (await fetch(`${app.url}/graphql?auth_key=wrong&timestamp=1`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(query),
      })).status,
    ).toBe(200);
    for (
      const [wrong, message] of [
        [{ ...headers, 'x-adit-auth-key': sign('another key', timestamp) }, 'bad auth_key'],
        [{ ...headers, 'x-adit-timestamp': String(timestamp - 21) }, `timestamp outside the 20 second window (server time ${timestamp})`],
        [{ 'x-adit-timestamp': String(timestamp) }, 'missing auth_key/timestamp'],
      ] as const
    ) {
      expect(await refusal(await app.graphql(query, { ...basic(), ...wrong }))).toEqual({ status: 401, body: error('UNAUTHENTICATED', message) });
    }
  });

  test('guessing is stopped after ten failures of an address, also for the right password, until the window ends', async () => {
    let now = Date.now();
    const app = await start({ now: () => now });
    // The right password may come any number of times.
    for (let n = 0; n < 12; n++) expect((await app.graphql(query)).status).toBe(200);
    const statuses = await Promise.all(Array.from({ length: 12 }, async () => (await app.graphql(query, basic('admin', 'wrong'))).status));
    expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
    now += 500;
    const refused = await app.graphql(query);
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(await refusal(refused)).toEqual({ status: 429, body: error('UNAUTHENTICATED', 'too many failed logins from this address') });
    now += 60_000;
    expect((await app.graphql(query)).status).toBe(200);
  });

  test('failures are counted by the address that a trusted proxy names, and an untrusted name counts nothing', async () => {
    const fail = async (app: Awaited<ReturnType<typeof start>>) => {
      // Some proxies add the port that the caller comes from.
      for (let n = 0; n < 10; n++) await app.graphql(query, { ...basic('admin', 'wrong'), 'x-forwarded-for': `203.0.113.1:${40_000 + n}` });
      const status = async (address: string) => (await app.graphql(query, { ...basic(), 'x-forwarded-for': address })).status;
      return [await status('203.0.113.1'), await status('203.0.113.1:50000'), await status('203.0.113.2')];
    };
    expect(await fail(await start({ settings: { basePath: '', trustedProxies: ['127.0.0.1'] } }))).toEqual([429, 429, 200]);
    expect(await fail(await start())).toEqual([429, 429, 429]);
  });
});

describe('requests that another site makes a browser send', () => {
  test('are refused: by form, by GET, and with a foreign origin', async () => {
    const app = await start();
    const mutation = '{"query":"mutation { createClient(input: {}) { id } }"}';
    const from = (headers: Record<string, string>) => app.graphql(mutation, { ...basic(), ...headers });
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x', 'application/graphql']) {
      expect(await refusal(await from({ 'content-type': type }))).toEqual({ status: 415, body: error('BAD_REQUEST', 'the body has to be application/json') });
    }
    for (
      const [name, value] of [['sec-fetch-site', 'cross-site'], ['sec-fetch-site', 'same-site'], ['origin', 'https://evil.example'], [
        'origin',
        'null',
      ]] as const
    ) {
      expect(await refusal(await from({ [name]: value }))).toEqual({ status: 403, body: error('FOREIGN_ORIGIN', 'invalid request origin') });
    }
    const byGet = await fetch(`${app.url}/graphql?query=${encodeURIComponent('mutation{createClient(input:{}){id}}')}`, { headers: basic() });
    expect(byGet.headers.get('allow')).toBe('POST');
    expect(await refusal(byGet)).toEqual({ status: 405, body: error('BAD_REQUEST', 'GraphQL operations are sent by POST') });
    expect(await app.api.services.store.db.client.count()).toBe(0);
    expect((await from({ origin: app.url, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await from({ origin: app.url })).status).toBe(200);
  });

  test.each([
    ['scheme and host are those that a trusted proxy reports', ['127.0.0.1'], {
      origin: 'https://panel.example',
      'x-forwarded-host': 'panel.example:443',
      'x-forwarded-proto': 'https',
    }, 200],
    ['another scheme than the reported one is another origin', ['127.0.0.1'], {
      origin: 'http://panel.example',
      'x-forwarded-host': 'panel.example',
      'x-forwarded-proto': 'https',
    }, 403],
    ['another host than the reported one, too', ['127.0.0.1'], {
      origin: 'https://other.example',
      'x-forwarded-host': 'panel.example',
      'x-forwarded-proto': 'https',
    }, 403],
    ['without a reported scheme the host decides', ['127.0.0.1'], { origin: 'https://panel.example', 'x-forwarded-host': 'panel.example' }, 200],
    [
      'what somebody else reports is not believed',
      [],
      { origin: 'https://panel.example', 'x-forwarded-host': 'panel.example', 'x-forwarded-proto': 'https' },
      403,
    ],
    ['an origin of no web page is foreign', ['127.0.0.1'], { origin: 'chrome-extension://panel.example', 'x-forwarded-host': 'panel.example' }, 403],
  ])('behind a proxy: %s', async (_rule, trustedProxies, headers, status) => {
    const app = await start({ settings: { basePath: '', trustedProxies } });
    expect((await app.graphql(query, { ...basic(), ...headers })).status).toBe(status);
  });

  test('responses have no CORS headers', async () => {
    const app = await start();
    const preflight = await fetch(`${app.url}/graphql`, {
      method: 'OPTIONS',
      headers: { ...basic(), origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(403);
    expect((await app.graphql(query)).headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('limits of an operation', () => {
  test.each([
    ['depth', `{ clients { rows { ${'tunnels { rows { client { '.repeat(4)} id ${'} } }'.repeat(4)} } } }`, 'depth'],
    ['aliases', `{ ${Array.from({ length: limits.aliases + 1 }, (_, n) => `a${n}: server { version }`).join(' ')} }`, 'liases'],
    ['directives', `{ server { version ${'@include(if: true) '.repeat(limits.directives + 1)} } }`, 'irectives'],
    ['tokens', `{ server { ${'version '.repeat(limits.tokens)} } }`, 'oken'],
  ])('an operation beyond the limit of %s is refused as invalid, and not run', async (_name, text, message) => {
    const app = await start();
    expect(await (await app.graphql({ query: text })).json()).toEqual(
      error('GRAPHQL_VALIDATION_FAILED', expect.stringMatching(new RegExp(`^(?!Syntax Error).*${message}`))),
    );
  });

  test('fragments do not circumvent the limit of depth', async () => {
    const app = await start();
    const fragments = Array.from({ length: 6 }, (_, n) => `fragment F${n} on Client { tunnels { rows { client { ${n === 5 ? 'id' : `...F${n + 1}`} } } } }`);
    expect(await (await app.graphql({ query: `{ client(id: 1) { ...F0 } } ${fragments.join(' ')}` })).text()).toContain('depth');
  });

  test('a body over 256 KB, several operations in one body, and broken JSON are refused with a clear text', async () => {
    const app = await start();
    expect((await app.graphql({ query: `# ${'x'.repeat(256 * 1024)}\n{ server { version } }` })).status).toBe(413);
    const batch = await app.graphql([query, query]);
    expect([batch.status, await batch.text()]).toEqual([400, expect.stringContaining('Batching is not supported')]);
    const broken = await app.graphql('{"query": "swordfish');
    expect([broken.status, await broken.json()]).toEqual([400, {
      errors: [{ message: 'POST body sent invalid JSON.', extensions: { code: 'BAD_REQUEST', originalError: {} } }],
    }]);
  });

  test('introspection and the examples of the editor are within the limits', async () => {
    const app = await start();
    const introspection = await app.graphql({ query: getIntrospectionQuery() });
    expect(await introspection.text()).toContain('"name":"CreateClientInput"');
    for (const { query: text } of exampleTabs) expect(validate(schema, parse(text))).toEqual([]);
  });
});

test('a fault of the server is masked, and its id leads to the log', async () => {
  const app = await start();
  app.api.engine.clientStates = async () => {
    throw new Error('secret detail');
  };
  const body = await (await app.graphql({ query: 'mutation { createClient(input: {}) { runtime { connected } } }' })).text();
  expect(body).not.toContain('secret detail');
  const id = /"id":"([^"]+)"/.exec(body)?.[1];
  expect(app.api.logged).toContainEqual(expect.objectContaining({ errorId: id, err: expect.objectContaining({ message: 'secret detail' }) }));
});

test("a rule's refusal reaches the caller with code and field", async () => {
  const app = await start();
  const body: unknown = await (await app.graphql({ query: 'mutation { createClient(input: { remark: "a\\u0000b" }) { id } }' })).json();
  expect(body).toMatchObject({
    errors: [{ message: 'invalid remark: holds a NUL character', path: ['createClient'], extensions: { code: 'INVALID_INPUT', field: 'input.remark' } }],
  });
});

test('values of a wrong type are one error with all problems, in variables and in the text', async () => {
  const app = await start();
  const problems = [{ code: 'INVALID_INPUT', field: 'input.port' }, { code: 'INVALID_INPUT', field: 'input.targets.0' }];
  const asVariables = {
    query: 'mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }',
    variables: { input: { clientId: 1, mode: 'TCP', port: 70000, targets: [1] } },
  };
  const subscription = await app.graphql({
    query: 'subscription ($resource: TrafficResource!, $id: ID!) { trafficEverySecond(resource: $resource, id: $id) { at } }',
    variables: { resource: 1, id: {} },
  }, { ...basic(), accept: 'text/event-stream' });
  expect(await subscription.text()).toMatch(/"problems":\[\{[^\]]*"field":"resource"[^\]]*"field":"id"/);
  for (const operation of [asVariables, { query: 'mutation { createTunnel(input: { clientId: 1, mode: TCP, port: 70000, targets: [1] }) { id } }' }]) {
    const response = await app.graphql(operation);
    expect([response.status, await response.json()]).toMatchObject([200, {
      errors: [{ extensions: { code: 'INVALID_INPUT', field: 'input.port', problems } }],
    }]);
  }
});

describe('the editor', () => {
  const html = { accept: 'text/html' };

  test('opens in a browser as a page of the panel, which is small and only loads scripts and styles of this server', async () => {
    const app = await start({ settings: { basePath: '/a', trustedProxies: [] } });
    const response = await fetch(`${app.url}/graphql`, { headers: { ...html, ...basic() } });
    const page = await response.text();
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('vary')).toContain('Accept');
    expect(page.length).toBeLessThan(2000);
    expect(page).toMatch(/<script type="module" crossorigin src="\/a\/panel\/graphiql-[^"]+\.js">/);
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
  });

  test('asks a browser for the password first', async () => {
    const app = await start();
    expect((await fetch(`${app.url}/graphql`, { headers: html })).status).toBe(401);
  });
});
