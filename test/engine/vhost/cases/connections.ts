import { chunk, type Conversation, forwarded, head, lastChunk, origin, request, visitor } from '../../../support/conversation.ts';

const ok = head('HTTP/1.1 200 OK', 'Content-Length: 2');
const answer = [origin.says(ok, 'ok'), visitor.sees(ok, 'ok')];
const closing = head('HTTP/1.1 200 OK', 'Content-Length: 2', 'Connection: close');
const get = (path: string) => [visitor.says(request(`GET ${path}`)), origin.sees(forwarded(`GET ${path}`)), ...answer];

/** Several requests on a connection, and how it ends cleanly. */
export const connections: readonly Conversation[] = [
  { name: 'requests follow each other on one connection to the origin', steps: [...get('/1'), ...get('/2'), ...get('/3')] },
  {
    name: 'requests that are sent ahead reach the origin one after the other',
    steps: [
      visitor.says(request('GET /1'), request('POST /2', 'Content-Length: 3'), 'abc', request('GET /3')),
      origin.sees(forwarded('GET /1')),
      ...answer,
      origin.sees(forwarded('POST /2', 'Content-Length: 3'), 'abc'),
      ...answer,
      origin.sees(forwarded('GET /3')),
      ...answer,
    ],
  },
  {
    name: 'after requests that were sent ahead, the last one in part, its rest and more follow',
    steps: [
      visitor.says(request('GET /1'), request('GET /2'), request('GET /3').slice(0, 20)),
      origin.sees(forwarded('GET /1')),
      ...answer,
      origin.sees(forwarded('GET /2')),
      ...answer,
      visitor.says(request('GET /3').slice(20)),
      origin.sees(forwarded('GET /3')),
      ...answer,
      visitor.says(request('GET /4'), request('GET /5')),
      origin.sees(forwarded('GET /4')),
      ...answer,
      origin.sees(forwarded('GET /5')),
      ...answer,
      ...get('/6'),
    ],
  },
  {
    name: 'a request in chunks is followed by one that was sent with it',
    steps: [
      visitor.says(request('POST /1', 'Transfer-Encoding: chunked'), chunk('abc'), lastChunk, request('GET /2')),
      origin.sees(forwarded('POST /1', 'Transfer-Encoding: chunked'), chunk('abc'), lastChunk),
      ...answer,
      origin.sees(forwarded('GET /2')),
      ...answer,
    ],
  },
  {
    name: "requests that were sent ahead of the visitor's end are all answered",
    steps: [
      visitor.says(request('GET /1'), request('GET /2'), request('GET /3')),
      visitor.ends,
      origin.sees(forwarded('GET /1')),
      ...answer,
      origin.sees(forwarded('GET /2')),
      ...answer,
      origin.sees(forwarded('GET /3')),
      origin.says(ok, 'ok'),
      visitor.sees(closing, 'ok'),
      visitor.seesEnd,
    ],
  },
  {
    name: 'a hundred requests at once',
    steps: [
      visitor.says(...Array.from({ length: 100 }, (_, n) => request(`GET /${n}`))),
      ...Array.from({ length: 100 }, (_, n) => [origin.sees(forwarded(`GET /${n}`)), ...answer]).flat(),
    ],
  },
  {
    name: 'a refused request in between does not disturb the ones around it',
    steps: [
      visitor.says(request('GET /1'), request('GET /2').replace('example', 'other'), request('GET /3')),
      origin.sees(forwarded('GET /1')),
      ...answer,
      visitor.isAnswered(404),
      origin.sees(forwarded('GET /3')),
      ...answer,
    ],
  },
  {
    name: 'what comes after a malformed request is not read',
    steps: [
      visitor.says(request('GET /1'), 'bad\r\n\r\n', request('GET /3')),
      origin.sees(forwarded('GET /1')),
      ...answer,
      visitor.isRefused(400),
      visitor.seesEnd,
      origin.seesEnd,
    ],
  },
  {
    name: 'a visitor may ask for the end of the connection',
    steps: [
      visitor.says(request('GET /', 'Connection: close'), request('GET /unread')),
      origin.sees(forwarded('GET /')),
      origin.says(ok, 'ok'),
      visitor.sees(closing, 'ok'),
      visitor.seesEnd,
      origin.seesEnd,
    ],
  },
  {
    name: "an origin may close its connection after an answer; the visitor's goes on",
    steps: [
      visitor.says(request('GET /1')),
      origin.sees(forwarded('GET /1')),
      origin.says(head('HTTP/1.1 200 OK', 'Content-Length: 2', 'Connection: close'), 'ok'),
      visitor.sees(ok, 'ok'),
      origin.seesEnd,
      visitor.says(request('GET /2')),
      origin.accepts,
      origin.sees(forwarded('GET /2')),
      ...answer,
    ],
  },
  {
    name: 'after an origin has closed a connection without an announcement, the next request uses a new one',
    steps: [...get('/1'), origin.ends, origin.seesEnd, visitor.says(request('GET /2')), origin.accepts, origin.sees(forwarded('GET /2')), ...answer],
  },
  {
    name: 'an origin that closes just when it is asked again is asked once more, elsewhere',
    steps: [
      ...get('/1'),
      visitor.says(request('GET /2')),
      origin.sees(forwarded('GET /2')),
      origin.ends,
      origin.accepts,
      origin.sees(forwarded('GET /2')),
      ...answer,
    ],
  },
  {
    name: 'what may have had an effect is not sent twice',
    steps: [
      ...get('/1'),
      visitor.says(request('POST /2', 'Content-Length: 0')),
      origin.sees(forwarded('POST /2', 'Content-Length: 0')),
      origin.ends,
      visitor.isRefused(502),
      visitor.seesEnd,
    ],
  },
  {
    name: 'an origin of HTTP/1.0 keeps its connection only when it says so',
    steps: [
      visitor.says(request('GET /1')),
      origin.sees(forwarded('GET /1')),
      origin.says(head('HTTP/1.0 200 OK', 'Content-Length: 2', 'Connection: keep-alive'), 'ok'),
      visitor.sees(ok, 'ok'),
      visitor.says(request('GET /2')),
      origin.sees(forwarded('GET /2')),
      origin.says(head('HTTP/1.0 200 OK', 'Content-Length: 2'), 'ok'),
      visitor.sees(ok, 'ok'),
      origin.seesEnd,
      visitor.says(request('GET /3')),
      origin.accepts,
      origin.sees(forwarded('GET /3')),
      ...answer,
    ],
  },
  {
    name: "a visitor of HTTP/1.0 who wants to keep the connection doesn't get that",
    steps: [
      visitor.says(head('GET / HTTP/1.0', 'Host: example.test', 'Connection: keep-alive')),
      origin.sees(forwarded('GET /').replace('HTTP/1.1', 'HTTP/1.0')),
      origin.says(ok, 'ok'),
      visitor.sees(closing, 'ok'),
      visitor.seesEnd,
      origin.seesEnd,
    ],
  },
  {
    name: 'a visitor that half-closes the connection gets the answer',
    steps: [
      visitor.says(request('GET /')),
      visitor.ends,
      origin.sees(forwarded('GET /')),
      origin.says(head('HTTP/1.1 200 OK', 'Content-Length: 4'), 'la'),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 4', 'Connection: close'), 'la'),
      origin.says('te'),
      visitor.sees('te'),
      visitor.seesEnd,
    ],
  },
  {
    name: 'a visitor that half-closes the connection after a body gets the answer',
    steps: [
      visitor.says(request('POST /', 'Content-Length: 2'), 'hi'),
      visitor.ends,
      origin.sees(forwarded('POST /', 'Content-Length: 2'), 'hi'),
      origin.says(ok, 'ok'),
      visitor.sees(closing, 'ok'),
      visitor.seesEnd,
    ],
  },
];

const sse = head('HTTP/1.1 200 OK', 'Content-Type: text/event-stream', 'Transfer-Encoding: chunked');

/** Answers that come bit by bit: each is seen before the next one is sent. */
export const streams: readonly Conversation[] = [
  {
    name: 'events in chunks',
    steps: [
      visitor.says(request('GET /events', 'Accept: text/event-stream')),
      origin.sees(forwarded('GET /events', 'Accept: text/event-stream')),
      origin.says(sse),
      visitor.sees(sse),
      ...['1', '2', '3'].flatMap((id) => [origin.says(chunk(`data: ${id}\n\n`)), visitor.sees(chunk(`data: ${id}\n\n`))]),
      origin.says(lastChunk),
      visitor.sees(lastChunk),
      ...get('/next'),
    ],
  },
  {
    name: 'events until the end of the connection',
    steps: [
      visitor.says(request('GET /events')),
      origin.sees(forwarded('GET /events')),
      origin.says(head('HTTP/1.1 200 OK', 'Content-Type: text/event-stream')),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Type: text/event-stream', 'Connection: close')),
      ...['1', '2', '3'].flatMap((id) => [origin.says(`data: ${id}\n\n`), visitor.sees(`data: ${id}\n\n`)]),
      origin.ends,
      visitor.seesEnd,
    ],
  },
  {
    name: 'parts of a chunk, its size and its end',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(sse),
      visitor.sees(sse),
      ...['5', '\r', '\n', 'he', 'llo', '\r\n', '0', '\r\n'].flatMap((piece) => [origin.says(piece), visitor.sees(piece)]),
      // The end is sent whole: it could be a trailer.
      origin.says('\r'),
      origin.says('\n'),
      visitor.sees('\r\n'),
      ...get('/next'),
    ],
  },
  {
    name: 'a body of known length, byte by byte',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(head('HTTP/1.1 200 OK', 'Content-Length: 5')),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 5')),
      ...Array.from('hello', (letter) => [origin.says(letter), visitor.sees(letter)]).flat(),
      ...get('/next'),
    ],
  },
  {
    name: 'a head that comes in pieces is passed on when it is whole',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says('HTTP/1.1 200'),
      origin.says(' OK\r\nContent-'),
      origin.says('Length: 2\r\n\r'),
      origin.says('\nok'),
      visitor.sees(ok, 'ok'),
      ...get('/next'),
    ],
  },
];

/** Connections that break. */
export const aborts: readonly Conversation[] = [
  {
    name: 'when a visitor resets the connection while it waits, the origin sees a reset',
    steps: [visitor.says(request('GET /')), origin.sees(forwarded('GET /')), visitor.resets, origin.seesReset],
  },
  {
    name: 'a visitor who breaks off in the middle of an answer',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(sse, chunk('1')),
      visitor.sees(sse, chunk('1')),
      visitor.resets,
      origin.seesReset,
    ],
  },
  {
    name: 'a visitor who breaks off in the middle of a body',
    steps: [
      visitor.says(request('POST /', 'Content-Length: 10'), 'abc'),
      origin.sees(forwarded('POST /', 'Content-Length: 10'), 'abc'),
      visitor.resets,
      origin.seesReset,
    ],
  },
  {
    name: 'when a visitor half-closes the connection in the middle of a body, the origin must not take the body for complete',
    steps: [
      visitor.says(request('POST /', 'Content-Length: 10'), 'abc'),
      origin.sees(forwarded('POST /', 'Content-Length: 10'), 'abc'),
      visitor.ends,
      origin.seesReset,
      visitor.seesEnd,
    ],
  },
  {
    name: 'a visitor half-closes the connection in the middle of chunks',
    steps: [
      visitor.says(request('POST /', 'Transfer-Encoding: chunked'), chunk('abc')),
      origin.sees(forwarded('POST /', 'Transfer-Encoding: chunked'), chunk('abc')),
      visitor.ends,
      origin.seesReset,
      visitor.seesEnd,
    ],
  },
  {
    name: 'a visitor that half-closes the connection in the middle of a head reaches no origin',
    steps: [visitor.says('GET / HTTP/1.1\r\nHost: exam'), visitor.ends, visitor.seesEnd],
  },
  {
    name: "a visitor who leaves between two requests: the origin's connection is closed cleanly",
    steps: [...get('/1'), visitor.ends, visitor.seesEnd, origin.seesEnd],
  },
  { name: 'a visitor who breaks off between two requests: so is it then', steps: [...get('/1'), visitor.resets, origin.seesEnd] },
  {
    name: 'an origin that closes without an answer',
    steps: [visitor.says(request('GET /')), origin.sees(forwarded('GET /')), origin.ends, visitor.isRefused(502), visitor.seesEnd],
  },
  {
    name: 'an origin that breaks off without an answer',
    steps: [visitor.says(request('GET /')), origin.sees(forwarded('GET /')), origin.resets, visitor.isRefused(502), visitor.seesEnd],
  },
  {
    name: 'a program that asks for JSON gets JSON of that',
    steps: [
      visitor.says(request('GET /', 'Accept: application/json')),
      origin.sees(forwarded('GET /', 'Accept: application/json')),
      origin.resets,
      visitor.isRefused(502, /^\{"status":502,/),
      visitor.seesEnd,
    ],
  },
  {
    name: 'an origin that closes in the middle of a head',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says('HTTP/1.1 200 OK\r\nX'),
      origin.ends,
      visitor.isRefused(502),
      visitor.seesEnd,
    ],
  },
  {
    name: 'an origin that closes in the middle of a body: the visitor sees no short answer but a broken one',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(head('HTTP/1.1 200 OK', 'Content-Length: 9'), 'abc'),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 9'), 'abc'),
      origin.ends,
      visitor.seesReset,
    ],
  },
  {
    name: 'an origin that closes between chunks',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(sse, chunk('abc')),
      visitor.sees(sse, chunk('abc')),
      origin.ends,
      visitor.seesReset,
    ],
  },
  {
    name: 'an origin that breaks off in the middle of a body',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(sse, chunk('abc')),
      visitor.sees(sse, chunk('abc')),
      origin.resets,
      visitor.seesReset,
    ],
  },
  {
    name: 'an origin that breaks off a body that would end with its connection',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(head('HTTP/1.1 200 OK'), 'abc'),
      visitor.sees(head('HTTP/1.1 200 OK', 'Connection: close'), 'abc'),
      origin.resets,
      visitor.seesReset,
    ],
  },
  {
    name: "an origin that breaks off in the middle of a visitor's body",
    steps: [
      visitor.says(request('POST /', 'Content-Length: 10'), 'abc'),
      origin.sees(forwarded('POST /', 'Content-Length: 10'), 'abc'),
      origin.resets,
      visitor.isRefused(502),
      visitor.seesEnd,
    ],
  },
];
