import { once } from 'node:events';
import net from 'node:net';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { RefusalCause, WantedClient, WantedHost } from '../../../src/engine/face.ts';
import { Engine } from '../../../src/engine/engine.ts';
import { Environment } from '../../../src/engine/environment.ts';
import { Field } from '../../../src/engine/http/field.ts';
import { prefersJson } from '../../../src/engine/vhost/response/refusal.ts';
import { formatOwnResponse, httpsRedirect } from '../../../src/engine/vhost/response/own-response.ts';
import { covering } from '../../support/certificates.ts';
import { clientHello } from '../../support/client-hello.ts';
import { eventually } from '../../support/eventually.ts';
import { LogRecorder } from '../../support/log-recorder.ts';
import { closed, visit } from '../../support/target.ts';
import { CLIENT, fresh, storedState } from '../../support/tunnel.ts';
import { exchange, hostOf, startLastingOrigin, startVhost } from '../../support/vhost.ts';
import { startVhostRig, type VhostRig } from '../../support/vhost-rig.ts';

const HOST_ID = 900;
const trace = new LogRecorder();
let rig: VhostRig;
let good = '';
/** A target that says nothing. */
let mute = '';

beforeAll(async () => {
  rig = await startVhostRig({ vhostTiming: { responseMs: 1500, headMs: 1500 }, visitorLog: trace.logger });
  good = (await startLastingOrigin((_text, socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'))).target;
  mute = (await startLastingOrigin(() => undefined)).target;
});

interface Refused {
  readonly name: string;
  readonly status: number;
  readonly title: RegExp;
  readonly cause?: RefusalCause;
  readonly host?: () => Partial<WantedHost>;
  readonly client?: Partial<WantedClient>;
  readonly request?: string;
  readonly before?: () => Promise<() => void>;
  /** The request is malformed: what it prefers is not known. */
  readonly noJson?: true;
}

const get = 'GET /some HTTP/1.1\r\nHost: example.test';
const cases: Refused[] = [
  { name: 'no host takes it', status: 404, title: /No such site/, request: 'GET / HTTP/1.1\r\nHost: nobody.test' },
  { name: 'the host is stopped', status: 404, title: /No such site/, host: () => ({ enabled: false }) },
  { name: 'there is no target', status: 503, title: /The site is away/, cause: 'noTarget', host: () => ({ targets: [] }) },
  { name: 'the server may not dial', status: 503, title: /The site is away/, cause: 'localProxy', host: () => ({ localProxy: true }) },
  { name: 'the target refuses', status: 502, title: /does not answer properly/, host: () => ({ targets: ['127.0.0.1:1'] }) },
  { name: 'the target is silent', status: 504, title: /does not answer/, host: () => ({ targets: [mute] }) },
  { name: 'the traffic is used up', status: 503, title: /used up its traffic/, cause: 'flow', client: { flowLimit: 1 }, before: () => askOnce() },
  {
    name: 'there are too many connections',
    status: 429,
    title: /Too many connections/,
    cause: 'connections',
    client: { maxConnections: 1 },
    before: () => askOnce(),
  },
  {
    name: "the address is on the client's blacklist, which comes before name and password",
    status: 403,
    title: /Not for this address/,
    cause: 'blackList',
    client: { blackIpList: '127.0.0.0/8', basicUser: 'name', basicPassword: 'word' },
  },
  { name: 'the address is not on the whitelist', status: 403, title: /Not for this address/, cause: 'whiteList', client: { ipWhite: true } },
  { name: 'it may say a password', status: 401, title: /asks for a password/, cause: 'whiteList', client: { ipWhite: true, ipWhitePassword: 'word' } },
  { name: 'name and password are missing', status: 401, title: /Name and password/, cause: 'login', client: { basicUser: 'name', basicPassword: 'word' } },
  { name: 'the request is malformed', status: 400, title: /Bad request/, request: `${get}\r\nContent-Length: x`, noJson: true },
  { name: 'the head is too long', status: 431, title: /too long/, request: `${get}\r\n${'X: y\r\n'.repeat(200)}Z: z`, noJson: true },
  { name: 'the coding is unknown', status: 501, title: /Not implemented/, request: `${get}\r\nTransfer-Encoding: gzip, chunked`, noJson: true },
  { name: 'the version is unknown', status: 505, title: /HTTP version not supported/, request: 'GET / HTTP/2.0\r\nHost: example.test', noJson: true },
  // Last, since the agent is cut off by them.
  { name: 'the client is disabled', status: 503, title: /The site is away/, cause: 'disabled', client: { enabled: false } },
  { name: 'the client has expired', status: 503, title: /The site is away/, cause: 'expired', client: { expiresAt: 1 } },
];

/** A connection that is answered and stays open. */
async function askOnce(): Promise<() => void> {
  const socket = net.connect(rig.httpPort, '127.0.0.1');
  socket.on('error', () => undefined).write(`${get}\r\n\r\n`);
  await once(socket, 'data');
  return () => socket.destroy();
}

test('a host that serves reports that, and its current traffic', async () => {
  await rig.client({});
  const remove = await rig.host({ id: HOST_ID, targets: [good] });
  const done = await askOnce();
  expect(rig.engine.hostState(HOST_ID)).toMatchObject({ running: true, error: '', connections: 1, inletBytes: expect.any(Number) });
  expect(rig.engine.hostState(HOST_ID)?.exportBytes).toBeGreaterThan(0);
  done();
  await remove();
  expect(rig.engine.hostState(HOST_ID)).toBeUndefined();
});

test('a request that is cut off by the flow limit before its response gets an error with the reason', async () => {
  await rig.client({});
  const remove = await rig.host({ id: HOST_ID, targets: [mute] });
  const { inletBytes = 0, exportBytes = 0 } = rig.engine.clientState(CLIENT.id) ?? {};
  await rig.client({ flowLimit: inletBytes + exportBytes + 3000 });
  expect(await exchange(rig.httpPort, `POST / HTTP/1.1\r\nHost: example.test\r\nContent-Length: 5000\r\n\r\n${'x'.repeat(5000)}`)).toMatch(
    /^HTTP\/1.1 503 [^]*used up its traffic/,
  );
  expect(rig.engine.hostState(HOST_ID)?.inletBytes).toBeGreaterThan(3000);
  await remove();
});

test('a request that is cut off since its visitor is no longer on the list gets an error, not the page that asks for the password', async () => {
  await rig.client({});
  const remove = await rig.host({ id: HOST_ID, targets: [mute] });
  const answer = exchange(rig.httpPort, `${get}\r\n\r\n`);
  await eventually(() => rig.engine.hostState(HOST_ID)?.connections, (count) => count === 1);
  await rig.client({ ipWhite: true, ipWhitePassword: 'word' });
  expect(await answer).toMatch(/^HTTP\/1.1 50[23] /);
  await rig.client({});
  await remove();
});

test('a visitor with the name and the password of the client is served', async () => {
  await rig.client({ basicUser: 'name', basicPassword: 'word' });
  const remove = await rig.host({ id: HOST_ID, targets: [good] });
  const shown = (text: string): string => `${get}\r\nAuthorization: Basic ${Buffer.from(text).toString('base64')}\r\nConnection: close\r\n\r\n`;
  expect(await exchange(rig.httpPort, shown('name:word'))).toMatch(/^HTTP\/1.1 200 [^]*hello$/);
  expect(await exchange(rig.httpPort, shown('name:other'))).toMatch(/^HTTP\/1.1 401 /);
  await rig.client({});
  await remove();
});

/** What a visitor reads for each cause for which no connection is admitted, and whether a request on a connection that is there is refused, too. */
const admissions: ReadonlyArray<readonly [RefusalCause, number, RegExp, boolean]> = [
  ['offline', 503, /The site is away/, true],
  ['disabled', 503, /The site is away/, true],
  ['expired', 503, /The site is away/, true],
  ['globalBlackList', 403, /Not for this address/, true],
  ['whiteList', 403, /Not for this address/, true],
  ['blackList', 403, /Not for this address/, true],
  ['connections', 429, /Too many connections/, false],
  ['flow', 503, /used up its traffic/, true],
  ['capacity', 429, /Too many connections/, false],
  ['agentCapacity', 429, /Too many connections/, true],
  ['noTarget', 503, /The site is away/, true],
  ['localProxy', 503, /The site is away/, true],
  ['login', 401, /Name and password/, true],
  ['malformed', 400, /Bad request/, true],
];

test.each(admissions)(
  'a request that is not admitted for %s is answered with %i, on a kept connection only if that asks for no new one',
  async (cause, status, title, kept) => {
    const remove = await rig.host({ id: HOST_ID, targets: [good] });
    const last = `${get}\r\nConnection: close\r\n\r\n`;
    const visitor = net.connect(rig.httpPort, '127.0.0.1').setEncoding('latin1').on('error', () => undefined);
    visitor.write(`${get}\r\n\r\n`);
    await once(visitor, 'data');
    const admit = jest.spyOn(Environment.prototype, 'admit').mockReturnValue(cause);
    try {
      const page = await exchange(rig.httpPort, last);
      expect(page).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(page).toMatch(title);
      visitor.write(last);
      expect((await visitor.toArray()).join('')).toMatch(new RegExp(`^HTTP/1.1 ${kept ? status : 200} `));
      expect(rig.engine.hostState(HOST_ID)?.refusals).toEqual({ [cause]: kept ? 2 : 1 });
    } finally {
      admit.mockRestore();
      visitor.destroy();
      await remove();
    }
  },
);

/** Begins a TLS connection, which ends without a response if nobody takes it. */
async function beginTls(): Promise<void> {
  const visitor = await visit(rig.httpsPort);
  visitor.write(await clientHello({ servername: 'example.test' }));
  await closed(visitor);
}

test.each(['offline', 'blackList', 'connections', 'noTarget'] as const)(
  'a visitor whose TLS would be passed through, and who is refused for %s, is counted and traced',
  async (cause) => {
    await rig.client({});
    const remove = await rig.host({ id: HOST_ID, targets: cause === 'noTarget' ? [] : [good] });
    const before = [trace.entries.length, rig.engine.clientState(CLIENT.id)?.refusals[cause] ?? 0] as const;
    const admit = cause === 'noTarget' ? undefined : jest.spyOn(Environment.prototype, 'admit').mockReturnValue(cause);
    try {
      await beginTls();
      expect(rig.engine.hostState(HOST_ID)?.refusals).toEqual({ [cause]: 1 });
      expect(rig.engine.clientState(CLIENT.id)?.refusals[cause]).toBe(before[1] + 1);
      expect(trace.entries.slice(before[0]).filter(({ msg }) => msg === 'refused')).toEqual([
        expect.objectContaining({ visitor: trace.entries[before[0]]?.['visitor'], hostId: HOST_ID, cause }),
      ]);
    } finally {
      admit?.mockRestore();
      await remove();
    }
  },
);

test('a visitor that names itself twice is not known; an address that guesses is refused for a while, and no other', async () => {
  await rig.client({ basicUser: 'name', basicPassword: 'word' });
  const remove = await rig.host({ id: HOST_ID, targets: [good] });
  const shown = (word: string) => `Authorization: Basic ${Buffer.from(`name:${word}`).toString('base64')}\r\n`;
  const ask = async (fields: string, from?: string) =>
    /^HTTP\/1.1 (\d+)/.exec(await exchange(rig.httpPort, `${get}\r\n${fields}Connection: close\r\n\r\n`, undefined, from))?.[1];
  expect([await ask(shown('word')), await ask(shown('word') + shown('word'))]).toEqual(['200', '401']);
  for (let guess = 0; guess < 10; guess++) expect(await ask(shown(`guess ${guess}`), '127.0.0.2')).toBe('401');
  expect([await ask(shown('word'), '127.0.0.2'), await ask(shown('word'))]).toEqual(['401', '200']);
  await rig.client({});
  await remove();
});

describe('each refusal is a page that says who can fix it, or JSON, with an id that is in the log', () => {
  test.each(cases)('$name: $status', async ({ status, title, cause, host, client = {}, request = get, before, noJson }) => {
    await rig.client({});
    const remove = await rig.host({ id: HOST_ID, targets: [good], ...host?.() });
    if (client.maxConnections !== undefined) await rig.client(client);
    const undo = await before?.();
    await rig.client(client);
    const counted = (): number => (cause === undefined ? 0 : rig.engine.hostState(HOST_ID)?.refusals[cause] ?? 0);
    const ofClient = (): number => (cause === undefined ? 0 : rig.engine.clientState(CLIENT.id)?.refusals[cause] ?? 0);
    const [atFirst, ofClientAtFirst] = [counted(), ofClient()];

    const page = await exchange(rig.httpPort, `${request}\r\nConnection: close\r\n\r\n`);
    expect(page).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*Content-Type: text/html[^]*Content-Security-Policy: default-src 'none'[^]*<h1>`));
    expect(page).toMatch(title);
    expect(page).not.toMatch(/127\.0\.0\.1|example\.test|agent|client/i);
    const [, id = 'none'] = /X-Request-Id: (\w+)/.exec(page) ?? [];
    expect(page).toContain(`<small>${id}</small>`);
    expect(rig.log.entries.find((entry) => entry['id'] === id)).toMatchObject({ status, address: '127.0.0.1' });

    const json = await exchange(rig.httpPort, `${request}\r\nAccept: application/json\r\nConnection: close\r\n\r\n`);
    expect(json).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    if (!noJson) {
      expect(JSON.parse(json.slice(json.indexOf('\r\n\r\n') + 4))).toMatchObject({
        status,
        error: expect.stringMatching(title),
        message: expect.any(String),
        id: expect.any(String),
      });
    }
    if (status === 429 || status === 503) expect(json).toMatch(/\r\nRetry-After: \d/);
    if (cause !== undefined) expect([counted() - atFirst, ofClient() - ofClientAtFirst]).toEqual([2, 2]);
    undo?.();
    await remove();
  });

  test('a HEAD request gets the head alone, with the length that the page has', async () => {
    const ask = (method: string) => exchange(rig.httpPort, `${method} / HTTP/1.1\r\nHost: nobody.test\r\nConnection: close\r\n\r\n`);
    const text = await ask('HEAD');
    expect(text).toMatch(/^HTTP\/1.1 404 [^]*\r\n\r\n$/);
    const lengthOf = (response: string) => /\r\nContent-Length: (\d+)\r\n/.exec(response)?.[1];
    const page = await ask('GET');
    expect(lengthOf(text)).toBe(lengthOf(page));
    expect(page.split('\r\n\r\n')[1]).toHaveLength(Number(lengthOf(page)));
  });

  test('a redirect to HTTPS names the port only where it is not the usual one', () => {
    const place = { host: 'a.example.test:8000', path: '/x?y' };
    expect(httpsRedirect({ ...place, host: 'a.example.test:' }, 443)).toEqual(httpsRedirect(place, 443));
    expect(formatOwnResponse(httpsRedirect(place, 443), false).toString()).toMatch(/\r\nLocation: https:\/\/a\.example\.test\/x\?y\r\n/);
    expect(formatOwnResponse(httpsRedirect(place, 8443), false).toString()).toMatch(/\r\nLocation: https:\/\/a\.example\.test:8443\/x\?y\r\n/);
  });

  test('a head that does not arrive in time: 408', async () => {
    expect(await exchange(rig.httpPort, 'GET / HTTP/1.1\r\nHost:')).toMatch(/^HTTP\/1.1 408 [^]*Too slow/);
  });
});

test('without an agent: 503, and the host reports why it does not serve', async () => {
  const log = new LogRecorder();
  const engine = new Engine({
    bridgeHost: '127.0.0.1',
    bridgePort: 0,
    bridgeTls: { port: 0, identity: covering },
    p2pPort: 0,
    allowPorts: [],
    log: log.logger,
  });
  await engine.load(storedState({ hosts: [{ ...hostOf({ id: HOST_ID, targets: [good] }), ...fresh }] }));
  const { httpPort } = await engine.listenHosts({ host: '127.0.0.1', httpPort: 0, httpsPort: 0 });
  expect(await exchange(httpPort, `${get}\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 503 [^]*The site is away/);
  expect(engine.hostState(HOST_ID)).toMatchObject({ running: false, error: 'the agent is not connected', refusals: { offline: 1 } });
  await engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
  expect(engine.hostState(HOST_ID)).toMatchObject({ running: false, error: 'the client is disabled' });
  await engine.close();
});

test('heads are held to the limits of the settings', async () => {
  const small = await startVhost([], { headLimits: { bytes: 1024, fields: 8 } });
  const ask = (fields: string) => exchange(small.httpPort, `GET / HTTP/1.1\r\nHost: nobody.test\r\nConnection: close\r\n${fields}\r\n`);
  expect(await ask('')).toMatch(/^HTTP\/1.1 404 /);
  expect(await ask('X: y\r\n'.repeat(7))).toMatch(/^HTTP\/1.1 431 /);
  expect(await ask(`X: ${'y'.repeat(1024)}\r\n`)).toMatch(/^HTTP\/1.1 431 /);
});

test.each([
  [[], false],
  [['*/*'], false],
  [['application/json'], true],
  [['Application/Problem+JSON'], true],
  [['text/html, application/json'], false],
  [['application/json, text/html'], true],
  [['application/json', 'TEXT/HTML'], true],
  [['TEXT/HTML', 'application/json'], false],
])('a visitor program that accepts %j prefers JSON to a page: %s', (accept, json) => {
  expect(prefersJson(accept.map((value) => Field.of('Accept', value)))).toBe(json);
});
