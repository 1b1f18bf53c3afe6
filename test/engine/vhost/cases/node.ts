import { chunk, type Conversation, head, lastChunk, origin, request, visitorFields, visitor } from '../../../support/conversation.ts';

const edited = 'Host: example.test';
const chunked = 'Transfer-Encoding: chunked';
const none: readonly string[] = [];

/** A request without body, as node:http takes it, and its whole answer. */
function gets(name: string, line: string, answer: string, fields: readonly string[] = []): Conversation {
  return {
    name,
    steps: [
      visitor.says(request(line, ...fields)),
      origin.took(`${line} HTTP/1.1`, [edited, ...fields, ...visitorFields], '', none),
      visitor.sees(answer),
      ...again,
    ],
  };
}

const again = [
  visitor.says(request('GET /length')),
  origin.took('GET /length HTTP/1.1', [edited, ...visitorFields], '', none),
  visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 5'), 'hello'),
];

/** What node:http makes of requests, and the visitor of its answers. */
export const nodeCases: readonly Conversation[] = [
  gets('an answer with a length', 'GET /length', `${head('HTTP/1.1 200 OK', 'Content-Length: 5')}hello`),
  gets('an answer in chunks', 'GET /chunks', head('HTTP/1.1 200 OK', 'X-Spelled-So: yes', chunked) + chunk('hel') + chunk('lo') + lastChunk),
  gets('an answer with a trailer', 'GET /trailer', `${head('HTTP/1.1 200 OK', 'Trailer: X-Sum', chunked) + chunk('hello')}0\r\nX-Sum: 1\r\n\r\n`),
  gets('early hints', 'GET /hints', head('HTTP/1.1 103 Early Hints', 'Link: </a.css>; rel=preload') + head('HTTP/1.1 200 OK', 'Content-Length: 2') + 'ok'),
  gets('processing', 'GET /processing', head('HTTP/1.1 102 Processing') + head('HTTP/1.1 200 OK', 'Content-Length: 4') + 'done'),
  gets("an answer that ends the origin's connection", 'GET /close', `${head('HTTP/1.1 200 OK', chunked) + chunk('bye')}${lastChunk}`),
  gets('several cookies', 'GET /cookies', head('HTTP/1.1 200 OK', 'Set-Cookie: a=1', 'Set-Cookie: b=2', chunked) + lastChunk),
  gets('no content', 'GET /none', head('HTTP/1.1 204 No Content')),
  gets('not modified', 'GET /same', head('HTTP/1.1 304 Not Modified', 'ETag: "1"'), ['If-None-Match: "1"']),
  gets('HEAD', 'HEAD /length', head('HTTP/1.1 200 OK', 'Content-Length: 5')),
  gets('HEAD of chunks, of which node says nothing', 'HEAD /chunks', head('HTTP/1.1 200 OK', 'X-Spelled-So: yes')),
  gets('OPTIONS of an empty answer', 'OPTIONS /', head('HTTP/1.1 200 OK', 'Content-Length: 0')),
  {
    name: 'a body by its length, echoed',
    steps: [
      visitor.says(request('POST /echo', 'Content-Length: 5'), 'hello'),
      origin.took('POST /echo HTTP/1.1', [edited, 'Content-Length: 5', ...visitorFields], 'hello', none),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 5'), 'hello'),
      ...again,
    ],
  },
  {
    name: 'a body in chunks with a trailer',
    steps: [
      visitor.says(request('PUT /echo', chunked, 'Trailer: X-Sum'), chunk('hel'), chunk('lo'), '0\r\nX-Sum: 1\r\n\r\n'),
      origin.took('PUT /echo HTTP/1.1', [edited, chunked, 'Trailer: X-Sum', ...visitorFields], 'hello', ['X-Sum: 1']),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 5'), 'hello'),
      ...again,
    ],
  },
  {
    name: 'a body that waits for 100',
    steps: [
      visitor.says(request('POST /echo', 'Content-Length: 5', 'Expect: 100-continue')),
      visitor.sees(head('HTTP/1.1 100 Continue')),
      visitor.says('hello'),
      origin.took('POST /echo HTTP/1.1', [edited, 'Content-Length: 5', 'Expect: 100-continue', ...visitorFields], 'hello', none),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 5'), 'hello'),
      ...again,
    ],
  },
  {
    name: 'an expectation that is not met',
    steps: [
      visitor.says(request('POST /echo', 'Content-Length: 5', 'Expect: the-impossible')),
      origin.took('POST /echo HTTP/1.1', [edited, 'Content-Length: 5', 'Expect: the-impossible', ...visitorFields], '(expected)'),
      visitor.sees(head('HTTP/1.1 417 Expectation Failed', chunked, 'Connection: close'), lastChunk),
      visitor.seesEnd,
    ],
  },
  {
    name: 'an upgrade to an echo',
    steps: [
      visitor.says(request('GET /up', 'Connection: Upgrade', 'Upgrade: echo')),
      origin.took('GET /up HTTP/1.1', [edited, 'Connection: Upgrade', 'Upgrade: echo', ...visitorFields]),
      visitor.sees(head('HTTP/1.1 101 Switching Protocols', 'Upgrade: echo', 'Connection: Upgrade')),
      visitor.says('any \0 bytes'),
      visitor.sees('any \0 bytes'),
      visitor.ends,
      visitor.seesEnd,
    ],
  },
  {
    name: 'requests that are sent ahead',
    steps: [
      visitor.says(request('GET /length'), request('POST /echo', chunked), chunk('hi'), lastChunk, request('HEAD /length')),
      origin.took('GET /length HTTP/1.1', [edited, ...visitorFields], '', none),
      origin.took('POST /echo HTTP/1.1', [edited, chunked, ...visitorFields], 'hi', none),
      origin.took('HEAD /length HTTP/1.1', [edited, ...visitorFields], '', none),
      visitor.sees(
        head('HTTP/1.1 200 OK', 'Content-Length: 5'),
        'hello',
        head('HTTP/1.1 200 OK', 'Content-Length: 2'),
        'hi',
        head('HTTP/1.1 200 OK', 'Content-Length: 5'),
      ),
      ...again,
    ],
  },
  {
    name: 'HTTP/1.0',
    steps: [
      visitor.says(head('GET /chunks HTTP/1.0', 'Host: example.test')),
      origin.took('GET /chunks HTTP/1.0', [edited, ...visitorFields], '', none),
      visitor.sees(head('HTTP/1.1 200 OK', 'X-Spelled-So: yes', 'Connection: close'), 'hello'),
      visitor.seesEnd,
    ],
  },
  {
    name: 'an answer that breaks off',
    steps: [
      visitor.says(request('GET /break')),
      origin.took('GET /break HTTP/1.1', [edited, ...visitorFields], '', none),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 10'), 'abc'),
      visitor.seesReset,
    ],
  },
  {
    name: "the host's headers and Host",
    host: { headers: ['X-A: own', 'Authorization: Bearer b'], hostChange: 'inner.test' },
    steps: [
      visitor.says(request('GET /length', 'X-A: 1', 'Authorization: Basic a')),
      origin.took('GET /length HTTP/1.1', ['Host: inner.test', ...visitorFields, 'X-A: own', 'Authorization: Bearer b'], '', none),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 5'), 'hello'),
    ],
  },
];
