import { createServer, IncomingMessage } from 'node:http';
import { connect, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readInput, RequestAborted, tooLarge, UnreadableRequest } from '../../src/legacy/input.ts';
import { LargeBodies } from '../../src/legacy/large-bodies.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { anyText, cases, hold, hostileTexts } from '../support/outside-input.ts';

const room = new LargeBodies();
/** Answers the parameters it read, or why it couldn't. Connections stay open while a test keeps the processor to itself. */
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  readInput(request, '192.0.2.1', room).then(
    (input) => response.end(JSON.stringify(Object.fromEntries(input))),
    (error: unknown) => {
      if (error instanceof RequestAborted) aborted();
      if (error instanceof UnreadableRequest) response.writeHead(error.status, { Connection: 'close' }).end(error.message);
      else response.writeHead(500).end(String(error));
    },
  );
});
let aborted: () => void = () => {};
let base = '';
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  port = address.port;
  base = `http://127.0.0.1:${port}`;
});
afterAll(() =>
  new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  })
);

type Body = NonNullable<NonNullable<Parameters<typeof fetch>[1]>['body']>;

async function post(path: string, body?: Body, type = ''): Promise<[number, unknown]> {
  const response = await fetch(`${base}${path}`, { method: 'POST', body, headers: type === '' ? {} : { 'content-type': type } });
  const text = await response.text();
  return [response.status, response.ok ? JSON.parse(text) : text];
}

function multipart(fields: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

describe('the same parameters', () => {
  const parameters = { id: '5', remark: 'a b&c=d+é%😀', blank: '', list: '1.1.1.1\r\n2.2.2.2' };
  test.each<[string, string, Body | undefined, string]>([
    ['urlencoded', '/', new URLSearchParams(parameters), ''],
    ['multipart', '/', multipart(parameters), ''],
    ['JSON', '/', JSON.stringify(parameters), 'application/json'],
    ['JSON with a charset', '/', JSON.stringify(parameters), 'application/json; charset=utf-8'],
    ['a JSON dialect', '/', JSON.stringify(parameters), 'Application/Problem+JSON'],
    ['the query string', `/?${new URLSearchParams(parameters).toString()}`, undefined, ''],
  ])('arrive in %s', async (_, path, body, type) => {
    expect(await post(path, body, type)).toEqual([200, parameters]);
  });
});

/** A request that has arrived: as Node hands it over, without the network. */
function arrived(url: string, type: string, body: Uint8Array | string): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  const bytes = Buffer.from(body);
  Object.assign(request, { url, headers: { 'content-type': type, 'content-length': String(bytes.length) }, complete: true });
  request.push(bytes);
  request.push(null);
  return request;
}

/** What it reads of a request; undefined = it refuses it. @throws when it fails otherwise, or takes a second */
async function inputOf(request: IncomingMessage): Promise<Record<string, string> | undefined> {
  const start = performance.now();
  try {
    return Object.fromEntries(await readInput(request, '192.0.2.1', room));
  } catch (error) {
    if (!(error instanceof UnreadableRequest)) throw error;
    return undefined;
  } finally {
    hold(performance.now() - start < 1000, 'takes less than a second');
  }
}

const form = 'application/x-www-form-urlencoded';

/** As a browser writes it, byte by byte what the values are. */
function multipartText(parameters: Readonly<Record<string, string>>): string {
  return `${Object.entries(parameters).map(([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('')}--x--\r\n`;
}

test('any text survives each encoding', async () => {
  const name = fc.stringMatching(/^[a-z]{1,8}$/);
  // What is no Unicode is sent as if it were.
  const value = anyText.map((text) => Buffer.from(text).toString());
  const parameters = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 4 }).map((pairs): Record<string, string> => Object.fromEntries(pairs));
  const encodings = [
    (sent: Record<string, string>) => arrived('/', form, new URLSearchParams(sent).toString()),
    (sent: Record<string, string>) => arrived(`/?${new URLSearchParams(sent).toString()}`, form, ''),
    (sent: Record<string, string>) => arrived('/', 'application/json', JSON.stringify(sent)),
    (sent: Record<string, string>) => arrived('/', 'multipart/form-data; boundary=x', multipartText(sent)),
  ];
  await fc.assert(
    fc.asyncProperty(parameters, fc.nat(encodings.length - 1), async (sent, which) => {
      const received = await inputOf(encodings[which]?.(sent) ?? arrived('/', '', ''));
      hold(JSON.stringify(received) === JSON.stringify(sent), 'is received as it was sent');
    }),
    cases,
  );
});

test('no bytes in any encoding make it fail otherwise than by refusing, in less than a second', async () => {
  const type = fc.constantFrom(
    form,
    'application/json',
    'multipart/form-data; boundary=x',
    'multipart/form-data',
    'multipart/form-data; boundary="',
    'text/plain',
  );
  const almost = fc.tuple(
    fc.constantFrom(
      '',
      '--x\r\n',
      '--x\r\nContent-Disposition: form-data; name="a"\r\n',
      '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n',
      '{"a":',
      '[{',
    ),
    anyText,
    fc.constantFrom('', '\r\n--x--\r\n', '"}'),
  );
  const body = fc.oneof(fc.uint8Array({ maxLength: 60 }), almost.map((parts) => parts.join('')));
  await fc.assert(
    fc.asyncProperty(body, type, anyText, async (sent, contentType, query) => {
      await inputOf(arrived(`/?${query}`, contentType, sent));
    }),
    cases,
  );
  for (const contentType of [form, 'application/json', 'multipart/form-data; boundary=x']) {
    for (const text of hostileTexts) await inputOf(arrived(`/?${text}`, contentType, text));
  }
});

test('a multipart body that ends anywhere is read or refused', async () => {
  const part = (head: string, value: string) => `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
  const whole = `${part('name="a"', 'b')}${part('name="f"; filename="f.txt"', 'content')}${part('name="c"', 'd')}--x--\r\n`;
  const statuses = await Promise.all(Array.from({ length: whole.length }, async (_, end) => {
    return (await post('/?q=1', whole.slice(0, end + 1), 'multipart/form-data; boundary=x'))[0];
  }));
  expect(new Set(statuses)).toEqual(new Set([200, 400]));
});

test('the body wins over the query, and the first of several values wins', async () => {
  expect(await post('/?id=1&a=2&a=3', new URLSearchParams([['id', '5'], ['id', '6']]))).toEqual([200, { id: '5', a: '2' }]);
  const form = multipart({ id: '5' });
  form.append('id', '6');
  expect(await post('/?id=1', form)).toEqual([200, { id: '5' }]);
  expect(await post('/?id=1', new URLSearchParams('id='))).toEqual([200, { id: '' }]);
});

test('JSON numbers, booleans and lists read as the text a form would send; null is absent', async () => {
  const body = JSON.stringify({ port: 0, id: 12, on: true, off: false, none: null, half: 1.5, list: [{ ID: 'a' }], __proto__: 1 });
  expect(await post('/?none=query', body, 'application/json'))
    .toEqual([200, { port: '0', id: '12', on: 'true', off: 'false', half: '1.5', list: '[{"ID":"a"}]', none: 'query' }]);
});

test('files of a multipart body are no parameters', async () => {
  const form = multipart({ id: '5' });
  form.append('remark', new Blob(['content']), 'file.txt');
  expect(await post('/', form)).toEqual([200, { id: '5' }]);
});

test.each<[string, Body, string, [number, string]]>([
  ['broken JSON', '{"id":', 'application/json', [400, 'the JSON request body is broken']],
  ['blank JSON', ' ', 'application/json', [400, 'the JSON request body is broken']],
  ['a JSON list', '[1]', 'application/json', [400, 'the JSON request body must be an object']],
  ['JSON null', 'null', 'application/json', [400, 'the JSON request body must be an object']],
  ['deep JSON', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'application/json', [400, 'the JSON request body is nested too deep']],
  ['multipart without a boundary', 'x', 'multipart/form-data', [400, 'the multipart request body is broken']],
  ['multipart that ends early', '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb', 'multipart/form-data; boundary=x', [
    400,
    'the multipart request body is broken',
  ]],
  ['another content type', 'id=5', 'text/plain', [
    415,
    'the content type of the request body must be application/x-www-form-urlencoded, multipart/form-data or application/json',
  ]],
  ['201 parameters', 'a=1&'.repeat(200), 'application/x-www-form-urlencoded', [400, 'too many parameters (at most 200)']],
  ['201 JSON values', JSON.stringify(Object.fromEntries(Array.from({ length: 201 }, (_, at) => [at, at]))), 'application/json', [
    400,
    'too many parameters (at most 200)',
  ]],
  ['201 parts', multipart(Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`p${at}`, '']))), '', [400, 'too many parameters (at most 200)']],
  ['a body over 3 MB', 'a'.repeat(3 * 1024 * 1024 + 1), 'application/json', [413, 'the request body is larger than 3 MB']],
  ['a form over 3 MB', 'a'.repeat(3 * 1024 * 1024 + 1), 'application/x-www-form-urlencoded', [413, 'the request body is larger than 3 MB']],
])('%s is refused with one line', async (_, body, type, answer) => {
  expect(await post('/', body, type)).toEqual(answer);
});

test('a parameter of a multipart body may be as long as the body; files count for the number of parts', async () => {
  const long = 'x'.repeat(2 * 1024 * 1024);
  expect(await post('/', multipart({ a: long }))).toEqual([200, { a: long }]);
  const files = (count: number) => {
    const form = new FormData();
    for (let n = 0; n < count; n++) form.append('file', new Blob(['x']), 'file.txt');
    return form;
  };
  expect(await post('/', files(200))).toEqual([200, {}]);
  expect(await post('/', files(201))).toEqual([400, 'too many parameters (at most 200)']);
});

test('a body of exactly 3 MB is read, and its room is free again', async () => {
  for (let n = 0; n < 3; n++) {
    const [status] = await post('/', `a=${'b'.repeat(3 * 1024 * 1024 - 2)}`, 'application/x-www-form-urlencoded');
    expect(status).toBe(200);
  }
});

test('an address that holds more large bodies than it may is refused, and served again when they are gone', async () => {
  const held = Array.from({ length: 2 }, () => {
    const socket = connect(port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${3 * 1024 * 1024}\r\n\r\n${'a'.repeat(3 * 1024 * 1024 - 1)}`);
    return socket;
  });
  const large = () => post('/?auth_key=x', 'a'.repeat(1024 * 1024), 'text/plain');
  await eventuallyAsync(large, ([status]) => status === 503);
  expect(await post('/', 'a=1', 'application/x-www-form-urlencoded')).toEqual([200, { a: '1' }]);
  aborted = () => undefined;
  for (const socket of held) socket.destroy();
  await eventuallyAsync(large, ([status]) => status === 200);
});

test('a body of another content type is ignored where the query string is signed', async () => {
  expect(await post('/?auth_key=x&id=5', 'id=6', 'text/plain')).toEqual([200, { auth_key: 'x', id: '5' }]);
  expect((await post('/?id=5&auth_keys=1', 'id=6', 'text/plain'))[0]).toBe(415);
});

test('200 parameters are read, in each encoding', async () => {
  const sent = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`p${at}`, String(at)]));
  expect(await post('/', new URLSearchParams(sent))).toEqual([200, sent]);
  expect(await post('/', multipart(sent))).toEqual([200, sent]);
  expect(await post('/', JSON.stringify(sent), 'application/json')).toEqual([200, sent]);
});

test('a query begins at the first question mark, and a body may come without its length', async () => {
  expect(await post('/?a=?b')).toEqual([200, { a: '?b' }]);
  const request = arrived('/?b=3', form, 'a=1');
  request.headers = { 'content-type': form, 'transfer-encoding': 'chunked' };
  const input = await readInput(request, '192.0.2.1', room);
  expect([Object.fromEntries(input), input.bodyBytes, input.repeated]).toEqual([{ a: '1', b: '3' }, 3, new Set()]);
  expect((await readInput(arrived('/?a=1&a=2', form, ''), '192.0.2.1', room)).repeated).toEqual(new Set(['a']));
  expect((await readInput(arrived('/?a=1', form, 'a=2'), '192.0.2.1', room)).repeated).toEqual(new Set(['a']));
});

test('a compressed body is refused', async () => {
  const response = await fetch(base, {
    method: 'POST',
    body: 'id=1',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-encoding': 'gzip' },
  });
  expect([response.status, await response.text()]).toEqual([415, 'a compressed request body is not supported']);
});

test('an empty body of any type leaves the query', async () => {
  expect(await post('/?id=5', '', 'text/plain')).toEqual([200, { id: '5' }]);
});

test('a caller that disconnects in the middle is dropped', async () => {
  const gone = new Promise<void>((resolve) => {
    aborted = resolve;
  });
  const socket = connect(port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{');
  server.once('request', () => socket.destroy());
  await expect(gone).resolves.toBeUndefined();
});

test.each([[3 * 1024 * 1024, '3 MB'], [1024 * 1024, '1 MB'], [256 * 1024, '256 KB']])('a limit of %i bytes is said as %s', (limit, text) => {
  expect(tooLarge(limit).message).toBe(`the request body is larger than ${text}`);
});
