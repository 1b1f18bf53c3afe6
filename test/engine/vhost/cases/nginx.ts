import { chunk, type Conversation, head, lastChunk, origin, request, visitor } from '../../../support/conversation.ts';

/** The fields about the visitor, in the spelling of nginx' log. */
const visitorFields: readonly string[] = [
  'host: example.test',
  'x_forwarded_for: 127.0.0.1',
  'x_real_ip: 127.0.0.1',
  'x_forwarded_proto: http',
  'x_forwarded_host: example.test',
];
const common = ['Server: nginx', 'Date: Thu, 01 Jan 1970 00:00:00 GMT'];
const modified = 'Last-Modified: Sun, 13 Sep 2020 12:26:40 GMT';

/** The head of an answer of nginx. */
function nginx(start: string, ...fields: readonly string[]): string {
  return head(start, ...common, ...fields);
}

const text = nginx('HTTP/1.1 200 OK', 'Content-Type: text/plain', 'Content-Length: 6');
const again = [visitor.says(request('GET /text')), origin.took('GET /text HTTP/1.1', visitorFields), visitor.sees(text, 'hello\n')];

/** A request, what nginx takes it for, and its whole answer. */
function gets(name: string, line: string, answer: string, fields: readonly string[] = []): Conversation {
  return { name, steps: [visitor.says(request(line, ...fields)), origin.took(`${line} HTTP/1.1`, visitorFields), visitor.sees(answer), ...again] };
}

/** A page that nginx makes of a status. */
function page(status: string): string {
  return `<html>\r\n<head><title>${status}</title></head>\r\n<body>\r\n<center><h1>${status}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n`;
}

/** The same with its head. */
function paged(status: string, ...fields: readonly string[]): string {
  const body = page(status);
  return `${nginx(`HTTP/1.1 ${status}`, 'Content-Type: text/html', `Content-Length: ${body.length}`, ...fields)}${body}`;
}

const moved = page('302 Found');
const found = `${
  nginx('HTTP/1.1 302 Moved Temporarily', 'Content-Type: text/html', `Content-Length: ${moved.length}`, 'Location: http://example.test/text')
}${moved}`;
const sent = ['Content-Type: text/plain', 'Content-Length: 6'];

/** What nginx makes of requests, and the visitor of its answers. */
export const nginxCases: readonly Conversation[] = [
  gets('a text', 'GET /text', `${text}hello\n`),
  gets(
    'a file',
    'GET /numbers.txt',
    `${nginx('HTTP/1.1 200 OK', 'Content-Type: text/plain', 'Content-Length: 10', modified, 'ETag: "5f5e1000-a"', 'Accept-Ranges: bytes')}0123456789`,
  ),
  gets(
    'HEAD of a file',
    'HEAD /numbers.txt',
    nginx('HTTP/1.1 200 OK', 'Content-Type: text/plain', 'Content-Length: 10', modified, 'ETag: "5f5e1000-a"', 'Accept-Ranges: bytes'),
  ),
  gets(
    'a part of a file',
    'GET /numbers.txt',
    `${
      nginx('HTTP/1.1 206 Partial Content', 'Content-Type: text/plain', 'Content-Length: 3', modified, 'ETag: "5f5e1000-a"', 'Content-Range: bytes 2-4/10')
    }234`,
    ['Range: bytes=2-4'],
  ),
  gets('a part that is not there', 'GET /numbers.txt', paged('416 Requested Range Not Satisfiable', 'Content-Range: bytes */10'), ['Range: bytes=20-30']),
  gets('a file that is known', 'GET /numbers.txt', nginx('HTTP/1.1 304 Not Modified', modified, 'ETag: "5f5e1000-a"'), ['If-None-Match: "5f5e1000-a"']),
  gets('a file that is not there', 'GET /missing?a=b', paged('404 Not Found')),
  gets('no content', 'GET /nothing', nginx('HTTP/1.1 204 No Content')),
  gets("a method that a file doesn't have", 'DELETE /numbers.txt', paged('405 Not Allowed')),
  gets("an answer that ends nginx' connection", 'GET /once', `${nginx('HTTP/1.1 200 OK', 'Content-Type: text/plain', 'Content-Length: 5')}once\n`),
  {
    name: 'a path that nginx would resolve reaches it resolved',
    steps: [visitor.says(request('GET /a/%2e%2e/text')), origin.took('GET /text HTTP/1.1', visitorFields), visitor.sees(`${text}hello\n`), ...again],
  },
  {
    name: 'a redirection to the name that was asked for',
    steps: [visitor.says(request('GET /moved')), origin.took('GET /moved HTTP/1.1', visitorFields), visitor.sees(found), ...again],
  },
  {
    name: 'a body by its length',
    steps: [
      visitor.says(request('POST /body', 'Content-Length: 5'), 'hello'),
      origin.took('POST /body HTTP/1.1', visitorFields, 'hello'),
      visitor.sees(nginx('HTTP/1.1 200 OK', ...sent), 'taken\n'),
      ...again,
    ],
  },
  {
    name: 'a body in chunks',
    steps: [
      visitor.says(request('POST /body', 'Transfer-Encoding: chunked'), chunk('hel'), chunk('lo'), lastChunk),
      origin.took('POST /body HTTP/1.1', ['host: example.test', 'transfer_encoding: chunked', ...visitorFields.slice(1)], 'hello'),
      visitor.sees(nginx('HTTP/1.1 200 OK', ...sent), 'taken\n'),
      ...again,
    ],
  },
  {
    name: 'a body that waits for 100',
    steps: [
      visitor.says(request('PUT /body', 'Content-Length: 5', 'Expect: 100-continue')),
      visitor.sees(head('HTTP/1.1 100 Continue')),
      visitor.says('hello'),
      origin.took('PUT /body HTTP/1.1', visitorFields, 'hello'),
      visitor.sees(nginx('HTTP/1.1 200 OK', ...sent), 'taken\n'),
      ...again,
    ],
  },
  {
    name: 'a body that is too large is answered before it is sent',
    steps: [
      visitor.says(request('POST /limited', 'Content-Length: 1000')),
      origin.took('POST /limited HTTP/1.1', visitorFields),
      visitor.sees(paged('413 Request Entity Too Large', 'Connection: close')),
      visitor.seesEnd,
    ],
  },
  {
    name: 'requests that are sent ahead',
    steps: [
      visitor.says(request('GET /text'), request('HEAD /text'), request('GET /nothing')),
      ...['GET /text', 'HEAD /text', 'GET /nothing'].map((line) => origin.took(`${line} HTTP/1.1`, visitorFields)),
      visitor.sees(text, 'hello\n', text, nginx('HTTP/1.1 204 No Content')),
      ...again,
    ],
  },
  {
    name: 'HTTP/1.0',
    steps: [
      visitor.says(head('GET /text HTTP/1.0', 'Host: example.test')),
      origin.took('GET /text HTTP/1.0', visitorFields),
      visitor.sees(nginx('HTTP/1.1 200 OK', ...sent, 'Connection: close'), 'hello\n'),
      visitor.seesEnd,
    ],
  },
  {
    name: 'what nginx keeps or drops of the fields is its own affair',
    host: { headers: ['X_A: own'] },
    steps: [
      visitor.says(request('GET /text', 'Cookie: a=b', 'Connection: x-a', 'X-A: 1')),
      origin.took('GET /text HTTP/1.1', ['host: example.test', 'x_a: own', 'cookie: a=b', ...visitorFields.slice(1)]),
      visitor.sees(text, 'hello\n'),
    ],
  },
];
