import { once } from 'node:events';
import http2 from 'node:http2';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Attempts } from '../../../src/rules/attempts.ts';
import { covering } from '../../support/certificates.ts';
import { exchange, startLastingOrigin } from '../../support/vhost.ts';
import { startVhostRig, TRUSTED_PROXY, type VhostRig } from '../../support/vhost-rig.ts';

const name = 'x.p.example.com';
const PATH = '/.well-known/adit/let-in';
let rig: VhostRig;
let reached: string[] = [];
const attempts = new Attempts();

beforeAll(async () => {
  const origin = await startLastingOrigin((text, socket) => {
    reached.push(text.split('\r\n', 1)[0] ?? '');
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello');
  });
  rig = await startVhostRig({ attempts });
  await rig.host({ id: 700, host: name, targets: [origin.target], certificate: covering.certificate, privateKey: covering.key });
});

// A new password ends what the old one allowed.
let password = 'p0';
let turn = 0;
beforeEach(async () => {
  reached = [];
  password = `word & "mark" ${++turn}`;
  await rig.client({ ipWhite: true, ipWhiteList: '192.0.2.1', ipWhitePassword: password });
  attempts.free({ kind: 'address', source: '127.0.0.1' }, Date.now());
});

/** A request of a visitor; with an address, of one behind the trusted proxy. */
function ask(line: string, headers: readonly string[] = [], body = '', from?: string): Promise<string> {
  const fields = [`Host: ${name}`, 'Connection: close', ...body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`], ...headers];
  return exchange(rig.httpPort, `${line} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`, undefined, from);
}

const form = (fields: Record<string, string>) => String(new URLSearchParams(fields));
const urlencoded = 'Content-Type: application/x-www-form-urlencoded';

test('a visitor who is not on the list gets a page that asks for the password, and reaches no target', async () => {
  const page = await ask('GET /a?b="<x>');
  expect(page).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n/);
  expect(page).toMatch(
    /Content-Security-Policy: default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'\r\n/,
  );
  expect(page).toContain(`<form method="post" action="${PATH}"><input type="hidden" name="to" value="/a?b=&#34;&#60;x&#62;">`);
  expect(page).not.toMatch(/Basic/);
  expect(await ask('GET /a', ['Accept: application/json'])).toMatch(/\r\n\r\n\{"success":false,"status":401,/);
  expect(reached).toEqual([]);
});

test("the right password allows the visitor's address and redirects back", async () => {
  const answer = await ask(`POST ${PATH}`, [urlencoded, `Origin: http://${name}`, 'Sec-Fetch-Site: same-origin'], form({ password, to: '/a?b' }));
  expect(answer).toMatch(/^HTTP\/1.1 303 See Other\r\nLocation: \/a\?b\r\n/);
  expect(await ask('GET /a?b')).toMatch(/hello$/);
  expect(reached).toEqual(['GET /a?b HTTP/1.1']);
  const longest = `/${'x'.repeat(2047)}`;
  expect(await ask(`POST ${PATH}`, [urlencoded], form({ password, to: longest }))).toContain(`\r\nLocation: ${longest}\r\n`);
  const line = await rig.log.line(/a visitor's address was allowed by the password/);
  expect(line).toMatchObject({ clientId: 1, address: '127.0.0.1' });
  expect(JSON.stringify(rig.log.entries)).not.toContain('mark');
});

test('JSON is taken and answered, and a body in chunks is a body', async () => {
  const json = JSON.stringify({ password });
  expect(await ask(`POST ${PATH}`, ['Content-Type: application/json'], json)).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*\{"success":true,"message":"[^"]+"\}$/);
  const chunked = `POST ${PATH} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n`
    + `${json.slice(0, 9).length.toString(16)}\r\n${json.slice(0, 9)}\r\n${json.slice(9).length.toString(16)}\r\n${json.slice(9)}\r\n0\r\n\r\n`;
  expect(await exchange(rig.httpPort, chunked)).toMatch(/"success":true/);
  for (const wrong of ['{"password":', '[]', '{"password":1}', '"password"']) {
    expect(await ask(`POST ${PATH}`, ['Content-Type: application/json'], wrong)).toMatch(/^HTTP\/1.1 401 [^]*\{"success":false,/);
  }
});

test('NPS programs send it to /authIp, which belongs to the target for all other visitors', async () => {
  const allowed = () => rig.log.entries.filter(({ msg }) => msg.startsWith("a visitor's address was allowed")).length;
  const before = allowed();
  expect(await ask('POST /authIp', [urlencoded], form({ pass: 'another' }))).toMatch(/^HTTP\/1.1 401 [^]*\{"success":false,/);
  expect(allowed()).toBe(before);
  expect(await ask('POST /authIp', [urlencoded], form({ pass: password }))).toMatch(/\{"success":true,/);
  expect(await ask('POST /authIp', [urlencoded], form({ other: 'form' }))).toMatch(/hello$/);
  expect(reached).toEqual(['POST /authIp HTTP/1.1']);
});

test('an allowed visitor that submits the form again does not send the password to the target', async () => {
  for (let count = 0; count < 2; count++) expect(await ask(`POST ${PATH}`, [urlencoded], form({ password, to: '/' }))).toMatch(/ 303 /);
  expect(await ask(`GET ${PATH}`)).toMatch(/hello$/);
  expect(reached).toEqual([`GET ${PATH} HTTP/1.1`]);
});

test.each(['//evil.test/', '/\\evil.test', 'https://evil.test/', 'evil', '/a\r\nSet-Cookie: x=1', '/ä', `/${'x'.repeat(2048)}`])(
  'nobody is led to another place: %j',
  async (to) => {
    expect(await ask(`POST ${PATH}`, [urlencoded], form({ password, to }))).toMatch(/^HTTP\/1.1 303 See Other\r\nLocation: \/\r\n(?!Set-Cookie)/);
  },
);

test.each([
  ['Sec-Fetch-Site: cross-site'],
  ['Sec-Fetch-Site: same-site'],
  ['Origin: http://evil.test'],
  [`Origin: http://evil.test/http://${name}`],
  [`Origin: ${name}.evil.test`],
  ['Origin: null'],
])('another site cannot have it said: %s', async (field) => {
  expect(await ask(`POST ${PATH}`, [urlencoded, field], form({ password }))).toMatch(/^HTTP\/1.1 401 /);
  expect(await ask('GET /')).toMatch(/^HTTP\/1.1 401 /);
  expect(attempts.lockouts(Date.now())).toEqual([]);
});

test('a page of the host itself may, however its name is written, and so may somebody who typed the address', async () => {
  const body = form({ password });
  const fields = [
    `Host: ${name.toUpperCase()}`,
    `Origin: HTTPS://${name}`,
    'Sec-Fetch-Site: none',
    urlencoded,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  expect(await exchange(rig.httpPort, `POST ${PATH} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`)).toMatch(/^HTTP\/1.1 303 /);
});

test('wrong passwords are throttled by address, as everywhere', async () => {
  const address = '198.51.100.7';
  const say = (text: string) =>
    exchange(
      rig.httpPort,
      `POST ${PATH} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\nX-Forwarded-For: ${address}\r\n${urlencoded}\r\n`
        + `Content-Length: ${form({ password: text }).length}\r\n\r\n${form({ password: text })}`,
      undefined,
      TRUSTED_PROXY,
    );
  for (let count = 0; count < 10; count++) expect(await say('wrong')).toMatch(/^HTTP\/1.1 401 [^]*Wrong password[^]*<form/);
  expect(await say(password)).toMatch(/^HTTP\/1.1 429 [^]*Too many tries/);
  expect(attempts.lockouts(Date.now())).toMatchObject([{ credential: 'ipWhitePassword', kind: 'address', source: address }]);
});

test('a body that is too long, none, GET, and passwords in the URL are refused', async () => {
  expect(await ask(`POST ${PATH}`, [urlencoded])).toMatch(/^HTTP\/1.1 401 /);
  expect(await ask(`POST ${PATH}`, [urlencoded], form({ password, to: `/${'x'.repeat(5000)}` }))).toMatch(/^HTTP\/1.1 401 /);
  expect(await ask(`GET ${PATH}?${form({ password })}`)).toMatch(/^HTTP\/1.1 401 /);
  expect(await ask(`POST ${PATH}?${form({ password })}`, [urlencoded], 'a=b')).toMatch(/^HTTP\/1.1 401 /);
  expect(await ask('GET /')).toMatch(/^HTTP\/1.1 401 /);
});

test("without a password of the client there is no page, and the path is the target's", async () => {
  await rig.client({ ipWhite: true, ipWhiteList: '192.0.2.1', ipWhitePassword: '' });
  expect(await ask('GET /')).toMatch(/^HTTP\/1.1 403 (?![^]*<form)/);
  expect(await ask(`POST ${PATH}`, [urlencoded], form({ password: '' }))).toMatch(/^HTTP\/1.1 403 /);
  await rig.client({ ipWhite: false, ipWhitePassword: 'some' });
  expect(await ask(`POST ${PATH}`, [urlencoded], form({ password: 'some' }))).toMatch(/hello$/);
});

test('an address on a blacklist stays refused', async () => {
  await rig.client({ ipWhite: true, ipWhiteList: '', ipWhitePassword: password, blackIpList: '127.0.0.1' });
  await ask(`POST ${PATH}`, [urlencoded], form({ password }));
  expect(await ask('GET /')).toMatch(/^HTTP\/1.1 403 /);
  expect(reached).toEqual([]);
});

test('over HTTP/2 it works alike', async () => {
  const session = http2.connect(`https://127.0.0.1:${rig.httpsPort}`, { servername: name, rejectUnauthorized: false });
  const request = async (headers: http2.OutgoingHttpHeaders, ...body: readonly string[]) => {
    const stream = session.request({ ':authority': name, ...headers }, { endStream: body.length === 0 });
    for (const [index, piece] of body.entries()) stream[index === body.length - 1 ? 'end' : 'write'](piece);
    const [answer] = await once(stream, 'response') as [http2.IncomingHttpHeaders];
    stream.resume();
    return { status: answer[':status'], location: answer.location };
  };
  expect(await request({ ':path': '/here' })).toEqual({ status: 401 });
  const said = form({ password, to: '/here' });
  const headers = {
    ':method': 'POST',
    ':path': PATH,
    'content-type': 'application/x-www-form-urlencoded',
    origin: `https://${name}`,
    'sec-fetch-site': 'same-origin',
  };
  expect(await request(headers, `${said}&x=${'x'.repeat(3000)}`, 'x'.repeat(3000))).toEqual({ status: 401 });
  expect(await request(headers, said)).toEqual({ status: 303, location: '/here' });
  expect(await request({ ':path': '/here' })).toMatchObject({ status: 200 });
  session.close();
});

test('six addresses that guess do not lock out other visitors of the client', async () => {
  const say = (address: string, guess: string) => ask(`POST ${PATH}`, [urlencoded, `X-Forwarded-For: ${address}`], form({ password: guess }), TRUSTED_PROXY);
  for (let n = 0; n < 6; n++) await Promise.all(Array.from({ length: 10 }, () => say(`198.51.100.${n}`, 'wrong')));
  expect(await say('198.51.100.1', password)).toMatch(/^HTTP\/1.1 4/);
  // They guess for the client, whichever of its hosts they ask.
  expect(attempts.lockouts(Date.now())).toContainEqual(expect.objectContaining({ kind: 'name', source: 'client 1' }));
  expect(await say('198.51.100.77', password)).toMatch(/^HTTP\/1.1 303 /);
  for (let n = 0; n < 6; n++) attempts.free({ kind: 'address', source: `198.51.100.${n}` }, Date.now());
  attempts.free({ kind: 'name', source: 'client 1' }, Date.now());
});
