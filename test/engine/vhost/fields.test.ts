import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Field } from '../../../src/engine/http/field.ts';
import { formatHead, type RequestHead } from '../../../src/engine/http/head.ts';
import { HttpSyntaxError } from '../../../src/engine/http/syntax-error.ts';
import { bytesOf, checkRequestHead, receivedFields, requestHead, responseHeaders, sentHeaders } from '../../../src/engine/vhost/request/http2-head.ts';
import { prefersJson, refusalOf, refusalResponse } from '../../../src/engine/vhost/response/refusal.ts';
import { plainRequestHead } from '../../../src/engine/http/plain-head.ts';
import { HeadsForTarget } from '../../../src/engine/vhost/target/head-for-target.ts';
import { type HostFields, hostFields } from '../../../src/engine/vhost/target/host-fields.ts';
import { fieldsForTarget, fieldsForVisitor, tellOrigin, upgradeOf, visitorOf } from '../../../src/engine/vhost/target/request-fields.ts';
import { type Refusal, refusals } from '../../../src/rules/visitor-refusals.ts';

const fieldsOf = (...lines: string[]) => lines.map((line) => Field.of(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)));
const linesOf = (fields: readonly Field[]) => fields.map(({ name, value }) => `${name}:${value}`);

const get = { ':method': 'GET', ':path': '/a', ':authority': 'a.test', ':scheme': 'https' };

test('a request over HTTP/2 has the head that it would have over HTTP/1.1, and its length', () => {
  const read = (headers: Parameters<typeof requestHead>[0], ended = true) => {
    const head = requestHead({ ...get, ...headers }, ended);
    if (!head) return undefined;
    const { method, target, minor, fields, length } = head;
    expect(length).toBe(formatHead(`${method} ${target} HTTP/1.${minor}`, fields).length);
    return [`${method} ${target}`, ...linesOf(fields)];
  };
  expect(read({ accept: 'x', 'set-cookie': ['a', 'b'] })).toEqual(['GET /a', 'Host:a.test', 'accept:x', 'set-cookie:a', 'set-cookie:b']);
  expect(read({ ':method': 'POST', ':path': '*', 'content-length': '3' }, false)).toEqual(['POST *', 'Host:a.test', 'content-length:3']);
  expect(read({}, false)).toEqual(['GET /a', 'Host:a.test', 'Transfer-Encoding:chunked']);
  expect(read({ 'content-length': '3', trailer: 'x' }, false)).toEqual(['GET /a', 'Host:a.test', 'trailer:x', 'Transfer-Encoding:chunked']);
  expect(read({ 'content-length': '3', trailer: 'x' })).toEqual(['GET /a', 'Host:a.test', 'content-length:3', 'trailer:x']);
  expect(read({ host: 'A.test' })).toEqual(['GET /a', 'Host:a.test']);
  expect(read({ ':authority': undefined, host: 'b.test' })).toEqual(['GET /a', 'Host:b.test']);
  const wrong: ReadonlyArray<Parameters<typeof requestHead>[0]> = [
    { ':method': undefined },
    { ':method': 'CONNECT' },
    { ':method': 'G T' },
    { ':path': undefined },
    { ':path': 'http://a.test/' },
    { ':path': '**' },
    { ':path': '/\r' },
    { ':authority': undefined },
    { ':authority': 'a\0' },
    { host: 'b.test' },
    { accept: 'a\nb' },
    ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'http2-settings'].map((name) => ({ [name]: 'x' })),
  ];
  for (const headers of wrong) expect([headers, read(headers)]).toEqual([headers, undefined]);
  expect(receivedFields({ ':path': '/', a: undefined, b: ['c', 'd'] })?.map(({ name, value }) => name + value)).toEqual(['a', 'bc', 'bd']);
});

test('heads over HTTP/2 are held to the same limits', () => {
  const statusOf = (head: Partial<RequestHead>): number => {
    try {
      checkRequestHead({ method: 'GET', target: '/', minor: 1, fields: fieldsOf('A:b', 'C:d'), length: 100, ...head }, { bytes: 100, fields: 2 });
      return 200;
    } catch (error) {
      return error instanceof HttpSyntaxError ? error.status : 0;
    }
  };
  expect([statusOf({}), statusOf({ length: 101 }), statusOf({ fields: fieldsOf('A:b', 'C:d', 'E:f') }), statusOf({ target: '/ ' })]).toEqual([
    200,
    431,
    431,
    400,
  ]);
  expect(bytesOf(fieldsOf('A:b', 'CD:efg'))).toBe('A: b\r\nCD: efg\r\n'.length);
});

test('the fields of a response over HTTP/2 are joined, except those whose values have commas, and none is of the connection', () => {
  const fields = fieldsOf(
    'A:1',
    'a:2',
    'Set-Cookie:x',
    'Set-Cookie:y',
    'WWW-Authenticate:z',
    'Connection:c',
    'Keep-Alive:c',
    'Transfer-Encoding:c',
    'Upgrade:c',
    'constructor:d',
  );
  const sent = { a: '1, 2', 'set-cookie': ['x', 'y'], 'www-authenticate': ['z'], constructor: 'd' };
  expect(sentHeaders(fields)).toEqual(sent);
  expect(responseHeaders(404, fields)).toEqual({ ':status': 404, ...sent });
});

const head: RequestHead = {
  method: 'GET',
  target: '/',
  minor: 1,
  length: 100,
  fields: fieldsOf(
    'Host:visitor.test',
    'X_Forwarded_For:9.9.9.9',
    'X-Real-IP:9.9.9.9',
    'X-Forwarded-Proto:x',
    'X-Forwarded-Host:x',
    'Forwarded:x',
    'X-Own:theirs',
    'A:b',
  ),
};
const origin = { address: '192.0.2.1', scheme: 'https', host: 'visitor.test:8443', trusted: false } as const;

test("a target gets the visitor's fields, who it is, and what the host sets instead", () => {
  const shown = ['X-Forwarded-For:192.0.2.1', 'X-Real-IP:192.0.2.1', 'X-Forwarded-Proto:https', 'X-Forwarded-Host:visitor.test:8443'];
  const passed = (own: Partial<Parameters<typeof hostFields>[0]>) =>
    linesOf(fieldsForTarget(head, hostFields({ headers: [], hostChange: '', ...own }), origin));
  expect(passed({})).toEqual(['Host:visitor.test:8443', 'X-Own:theirs', 'A:b', ...shown]);
  expect(passed({ hostChange: 'inner' })).toEqual(['Host:inner', 'X-Own:theirs', 'A:b', ...shown]);
  expect(passed({ headers: ['X_Own : mine ', 'X-Real-IP: 1.1.1.1', 'no field'] })).toEqual(
    ['Host:visitor.test:8443', 'A:b', ...shown.filter((line) => !line.startsWith('X-Real')), 'X_Own:mine', 'X-Real-IP:1.1.1.1'],
  );
  expect(passed({ headers: ['Host: own'] })).toEqual(['X-Own:theirs', 'A:b', ...shown, 'Host:own']);
  expect(passed({ headers: ['Host: own'], hostChange: 'inner' })).toEqual(['Host:inner', 'X-Own:theirs', 'A:b', ...shown]);
  const names = ['Content-Length', 'Transfer_Encoding', 'Connection', 'Upgrade', 'TE', 'Trailer', 'Keep-Alive', 'Proxy-Connection', 'Expect'];
  expect(hostFields({ headers: names.map((name) => `${name}: 1`), hostChange: '' })).toEqual({ host: undefined, fields: [], names: new Set() });
});

test('the lines that the requests of a visitor have in common change with its Host, and with what the host sets', () => {
  const heads = new HeadsForTarget();
  const write = (host: string, own: HostFields) => {
    const plain = plainRequestHead(Buffer.from(`GET /a HTTP/1.1\r\nHost: ${host}\r\nA: b\r\n\r\n`));
    if (!plain) throw new Error('the head is plain');
    return heads.write(plain, '/a', own, { address: '192.0.2.1', scheme: 'http', host, trusted: false }).toString().split('\r\n').slice(1);
  };
  const expected = (host: string, shown: string) => [
    `Host: ${host}`,
    'A: b',
    'X-Forwarded-For: 192.0.2.1',
    'X-Real-IP: 192.0.2.1',
    'X-Forwarded-Proto: http',
    `X-Forwarded-Host: ${shown}`,
    '',
    '',
  ];
  const [none, inner] = [hostFields({ headers: [], hostChange: '' }), hostFields({ headers: [], hostChange: 'inner' })];
  for (let turn = 0; turn < 2; turn++) {
    expect(write('a.test', none)).toEqual(expected('a.test', 'a.test'));
    expect(write('a.test', none)).toEqual(expected('a.test', 'a.test'));
    expect(write('b.test', none)).toEqual(expected('b.test', 'b.test'));
    expect(write('b.test', inner)).toEqual(expected('inner', 'b.test'));
  }
});

test('a trusted proxy says who the visitor is, and how it came; nobody else does', () => {
  const said = fieldsOf(
    'X-Forwarded-For:1.1.1.1, 2.2.2.2',
    'X-Forwarded-For:3.3.3.3',
    'X-Forwarded-Proto:http',
    'X-Forwarded-Proto:ftp',
    'X-Forwarded-Host:a,b',
  );
  const proxy = { ...origin, trusted: true };
  expect(linesOf(tellOrigin(said, proxy))).toEqual(
    ['X-Forwarded-For:1.1.1.1, 2.2.2.2, 3.3.3.3, 192.0.2.1', 'X-Real-IP:1.1.1.1', 'X-Forwarded-Proto:http', 'X-Forwarded-Host:a,b'],
  );
  expect(linesOf(tellOrigin([...said, ...fieldsOf('X-Real-IP:4.4.4.4', 'X-Real-IP:5.5.5.5')], proxy))[1]).toBe('X-Real-IP:4.4.4.4');
  expect(linesOf(tellOrigin([], proxy))).toEqual(linesOf(tellOrigin(said, origin)));
  const visitor = (trusted: string, ...values: string[]) =>
    visitorOf(fieldsOf(...values.map((value) => `X-Forwarded-For:${value}`)), 'peer', (address) => trusted.includes(address));
  expect(visitor('', '1.1.1.1, 2.2.2.2', '3.3.3.3')).toBe('3.3.3.3');
  expect(visitor('2.2.2.2 3.3.3.3', '1.1.1.1, 2.2.2.2', '3.3.3.3')).toBe('1.1.1.1');
  expect(visitor('1.1.1.1 3.3.3.3', '1.1.1.1', '3.3.3.3')).toBe('1.1.1.1');
  expect([visitor('3.3.3.3', '1.1.1.1', 'unknown, 3.3.3.3'), visitor('')]).toEqual(['peer', 'peer']);
});

test('a connection is upgraded to one protocol, over HTTP/1.1, and never to cleartext HTTP/2', () => {
  const upgrade = (minor: 0 | 1, ...lines: string[]) => upgradeOf({ ...head, minor, fields: fieldsOf(...lines) });
  expect(upgrade(1, 'Connection:keep-alive, Upgrade', 'Upgrade:websocket')).toBe('websocket');
  expect(
    linesOf(fieldsForTarget({ ...head, fields: fieldsOf('Connection:Upgrade', 'Upgrade:x') }, hostFields({ headers: [], hostChange: '' }), origin)).slice(1, 3),
  )
    .toEqual(['Connection:Upgrade', 'Upgrade:x']);
  const none = [
    upgrade(0, 'Connection:Upgrade', 'Upgrade:websocket'),
    upgrade(1, 'Connection:close', 'Upgrade:websocket'),
    upgrade(1, 'Connection:Upgrade'),
    upgrade(1, 'Connection:Upgrade', 'Upgrade:'),
    upgrade(1, 'Connection:Upgrade', 'Upgrade:a', 'Upgrade:b'),
    upgrade(1, 'Connection:Upgrade', 'Upgrade:websocket, H2C'),
  ];
  expect(none).toEqual(none.map(() => undefined));
  const switched = fieldsOf('Connection:Upgrade', 'Upgrade:x', 'Keep-Alive:a', 'Content-Length:0', 'Transfer-Encoding:chunked', 'Trailer:a', 'A:b');
  expect(linesOf(fieldsForVisitor(switched, { status: 101, minor: 1 }))).toEqual(['Connection:Upgrade', 'Upgrade:x', 'A:b']);
  expect(linesOf(fieldsForVisitor(switched, { status: 200, minor: 1 }))).toEqual(['Content-Length:0', 'Transfer-Encoding:chunked', 'Trailer:a', 'A:b']);
});

function isRefusal(name: string): name is Refusal {
  return name in refusals;
}

test('a refusal has the fields of its status, as a page, as JSON, and without a body', () => {
  const fieldsAs = (refusal: Refusal, form: Partial<Parameters<typeof refusalResponse>[1]>) => {
    const { status, fields, body } = refusalResponse(refusal, { id: 'abc', json: false, headOnly: false, ...form });
    return { status, body: body?.toString(), fields: Object.fromEntries(fields.map(({ lower, value }) => [lower, value])) };
  };
  for (const name of Object.keys(refusals).filter(isRefusal)) {
    const { status, title, text } = refusals[name];
    const page = fieldsAs(name, {});
    const json = fieldsAs(name, { json: true });
    const asked = status === 401 ? { 'www-authenticate': name === 'unauthorized' ? 'Basic realm="easyProxy"' : 'Form realm="visitors"' } : {};
    const common = { 'cache-control': 'no-store', 'x-request-id': 'abc', ...asked, ...(status === 429 || status === 503) && { 'retry-after': '5' } };
    expect([page.status, json.status]).toEqual([status, status]);
    expect(json.fields).toEqual({ ...common, 'content-type': 'application/json; charset=utf-8', 'content-length': String(Buffer.byteLength(json.body ?? '')) });
    expect(JSON.parse(json.body ?? '')).toEqual({ status, error: title, message: text, id: 'abc' });
    expect(page.fields).toMatchObject({ ...common, 'content-type': 'text/html; charset=utf-8', 'content-length': String(Buffer.byteLength(page.body ?? '')) });
    expect(Object.keys(page.fields)).toHaveLength(Object.keys(common).length + 3);
    const [style = ''] = /(?<=<style>)[^<]+/.exec(page.body ?? '') ?? [];
    expect(page.fields['content-security-policy']).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; form-action 'none'`);
    expect(page.body).toMatch(new RegExp(`<title>${title}</title>[^]*<h1>${title}</h1>[^]*<small>abc</small>`));
    expect(fieldsAs(name, { headOnly: true })).toEqual({ ...page, body: undefined });
  }
  const form = fieldsAs('notListed', { form: '<form>' });
  expect([form.body?.includes('<form>'), form.fields['content-security-policy']?.includes("form-action 'self'")]).toEqual([true, true]);
  expect(JSON.parse(fieldsAs('notListed', { form: '<form>', json: true }).body ?? '')).toMatchObject({ success: false });
  expect(([400, 431, 501, 505] as const).map((status) => refusalOf(new HttpSyntaxError('x', status)))).toEqual([
    'malformed',
    'tooLarge',
    'notImplemented',
    'version',
  ]);
  const json = (...accept: string[]) => prefersJson(fieldsOf(...accept.map((value) => `Accept:${value}`)));
  expect([json('application/JSON'), json('application/json', 'text/html'), json('text/html', 'application/json'), json('*/*'), json()]).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
