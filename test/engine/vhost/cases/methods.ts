import { type Conversation, forwarded, head, origin, request, visitorFields, visitor } from '../../../support/conversation.ts';

const ok = head('HTTP/1.1 200 OK', 'Content-Length: 2');

/** A request without body by that method, as it is. */
function passes(method: string): Conversation {
  return {
    name: `${method} passes`,
    steps: [visitor.says(request(`${method} /path`)), origin.sees(forwarded(`${method} /path`)), origin.says(ok, 'ok'), visitor.sees(ok, 'ok')],
  };
}

/** A target of a request that reaches the origin in that form. */
function reaches(name: string, target: string, seen: string, hosted = 'example.test'): Conversation {
  return {
    name,
    steps: [
      visitor.says(head(`GET ${target} HTTP/1.1`, 'Host: example.test')),
      origin.sees(head(`GET ${seen} HTTP/1.1`, `Host: ${hosted}`, ...visitorFields.slice(0, 3), `X-Forwarded-Host: ${hosted}`)),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
    ],
  };
}

/** A head that is answered by the server itself. */
function refused(name: string, status: number, ...lines: readonly string[]): Conversation {
  return { name, steps: [visitor.says(head(...lines)), visitor.isRefused(status), visitor.seesEnd] };
}

/** Methods, targets and versions. */
export const methods: readonly Conversation[] = [
  ...['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'get', 'M-SEARCH'].map(passes),
  {
    name: 'HEAD gets a head with a length and no body',
    steps: [
      visitor.says(request('HEAD /'), request('GET /next')),
      origin.sees(forwarded('HEAD /')),
      origin.says(head('HTTP/1.1 200 OK', 'Content-Length: 500')),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 500')),
      origin.sees(forwarded('GET /next')),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
    ],
  },
  {
    name: 'HEAD of something chunked gets its head and no chunks',
    steps: [
      visitor.says(request('HEAD /'), request('GET /next')),
      origin.sees(forwarded('HEAD /')),
      origin.says(head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked')),
      visitor.sees(head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked')),
      origin.sees(forwarded('GET /next')),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
    ],
  },
  {
    name: 'HEAD of something without length leaves the connection open',
    steps: [
      visitor.says(request('HEAD /'), request('GET /next')),
      origin.sees(forwarded('HEAD /')),
      origin.says(head('HTTP/1.1 200 OK', 'X: 1')),
      visitor.sees(head('HTTP/1.1 200 OK', 'X: 1')),
      origin.sees(forwarded('GET /next')),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
    ],
  },
  reaches('a query stays as it is', '/a?b=c&d=%20?e', '/a?b=c&d=%20?e'),
  reaches('dot segments of a path are resolved, whatever they are escaped as', '/a/../b/%2e%2E/c/.%2e/d/./e/%2E', '/d/e/'),
  reaches('double slashes, parameters and escapes within a path stay as they are', '/a//b/c%2fd;x/%41%20', '/a//b/c%2fd;x/%41%20'),
  reaches('a path begins with one slash', '//evil.test/a', '/evil.test/a'),
  reaches('a backslash is a slash', '/\\evil.test\\a/..\\b', '/evil.test/b'),
  reaches('dots in a query stay as they are', '/a?/../b%2e%2e//c', '/a?/../b%2e%2e//c'),
  reaches('dot segments of an absolute target are resolved', 'http://example.test/a/../b?c', '/b?c'),
  reaches('bytes beyond ASCII in a path stay as they are', '/\xe4\xff', '/\xe4\xff'),
  reaches('an absolute target becomes a path, its authority the Host', 'http://EXAMPLE.test:80/a?b', '/a?b', 'EXAMPLE.test:80'),
  reaches('an absolute target without a path is /', 'http://example.test', '/'),
  reaches('an absolute target with a query only is /?', 'https://example.test?q', '/?q'),
  {
    name: 'an absolute target goes to its authority, whatever Host says',
    steps: [
      visitor.says(head('GET http://example.test/ HTTP/1.1', 'Host: other.test')),
      origin.sees(forwarded('GET /')),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
    ],
  },
  {
    name: 'OPTIONS * reaches the host of the whole server',
    steps: [visitor.says(request('OPTIONS *')), origin.sees(forwarded('OPTIONS *')), origin.says(ok, 'ok'), visitor.sees(ok, 'ok')],
  },
  {
    name: 'HTTP/1.0 reaches the origin as such, and the connection ends with the answer',
    steps: [
      visitor.says(head('GET / HTTP/1.0', 'Host: example.test')),
      origin.sees(head('GET / HTTP/1.0', 'Host: example.test', ...visitorFields)),
      origin.says(ok, 'ok'),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 2', 'Connection: close'), 'ok'),
      visitor.seesEnd,
    ],
  },
  {
    name: 'one empty line before a request is passed over',
    steps: [visitor.says('\r\n', request('GET /')), origin.sees(forwarded('GET /')), origin.says(ok, 'ok'), visitor.sees(ok, 'ok')],
  },
  {
    name: 'a head may come byte by byte',
    steps: [
      ...Array.from(request('GET /slow', 'X: y'), (letter) => visitor.says(letter)),
      origin.sees(forwarded('GET /slow', 'X: y')),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
    ],
  },
  refused('CONNECT is not for this server', 501, 'CONNECT example.test:443 HTTP/1.1', 'Host: example.test'),
  refused('HTTP/2 without its own form is not spoken', 505, 'GET / HTTP/2.0', 'Host: example.test'),
  refused('HTTP/0.9 is not spoken', 400, 'GET /'),
  refused('a target with a fragment of another scheme is malformed', 400, 'GET ftp://example.test/ HTTP/1.1', 'Host: example.test'),
  ...[
    '/..',
    '/a/../../b',
    '/%2e%2e/',
    '/a/%2e%2e%2fb',
    '/a/..%2fb',
    '/a%2f..%2f..%2fb',
    '/a/..;/b',
    '/a/..;x=y/b',
    '/a/%2e%2e;/b',
    '/a/.%3b/b',
    '/a%5c..%5cb',
    '/a/..%20/b',
    '/a/..%00/b',
    '/a%00',
    '/a#b',
  ].map(
    (target) => refused(`the path ${target} is refused`, 400, `GET ${target} HTTP/1.1`, 'Host: example.test'),
  ),
  ...['a b', 'example.test/x', 'example.test\\x', 'user@example.test', 'example.test#x', 'example.test?x', '\xe4.test'].map(
    (host) => refused(`the Host ${host} is malformed`, 400, 'GET / HTTP/1.1', `Host: ${host}`),
  ),
  refused('a request without Host is malformed', 400, 'GET / HTTP/1.1'),
  refused('a head of more than 32 KB is too long', 431, 'GET / HTTP/1.1', 'Host: example.test', `X: ${'x'.repeat(33_000)}`),
  refused('more than 128 fields are too many', 431, 'GET / HTTP/1.1', 'Host: example.test', ...Array.from({ length: 130 }, (_, n) => `X-${n}: 1`)),
];
