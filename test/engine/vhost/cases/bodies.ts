import { chunk, type Conversation, forwarded, head, lastChunk, origin, request, visitor } from '../../../support/conversation.ts';

const ok = head('HTTP/1.1 200 OK', 'Content-Length: 2');
const kept = [visitor.says(request('GET /next')), origin.sees(forwarded('GET /next')), origin.says(ok, 'ok'), visitor.sees(ok, 'ok')];
const big = '0123456789abcdef'.repeat(64 * 1024);

/** A request's body, which passes as it is; the connection goes on. */
function sends(name: string, fields: readonly string[], body: string, method = 'POST'): Conversation {
  return {
    name,
    steps: [
      visitor.says(request(`${method} /`, ...fields), body),
      origin.sees(forwarded(`${method} /`, ...fields), body),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
      ...kept,
    ],
  };
}

/** A request's body and framing, which reach the origin in their canonical form; the connection goes on. */
function sendsAs(name: string, fields: readonly string[], canonical: readonly string[], body: string, passed = body): Conversation {
  return {
    name,
    steps: [
      visitor.says(request('POST /', ...fields), body),
      origin.sees(forwarded('POST /', ...canonical), passed),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
      ...kept,
    ],
  };
}

/** A response that reaches the visitor in its canonical form; the connection goes on. */
function answersAs(name: string, said: readonly string[], seen: readonly string[], body = '', passed = body): Conversation {
  return {
    name,
    steps: [visitor.says(request('GET /')), origin.sees(forwarded('GET /')), origin.says(head(...said), body), visitor.sees(head(...seen), passed), ...kept],
  };
}

/** A response that passes as it is; the connection goes on. */
function answers(name: string, start: string, fields: readonly string[], body = ''): Conversation {
  return {
    name,
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(head(start, ...fields), body),
      visitor.sees(head(start, ...fields), body),
      ...kept,
    ],
  };
}

/** Something that is no response: the visitor hears that the origin does not answer properly, and the origin's connection is closed. */
function breaks(name: string, said: string): Conversation {
  return {
    name,
    steps: [visitor.says(request('GET /')), origin.sees(forwarded('GET /')), origin.says(said), visitor.isRefused(502), visitor.seesEnd, origin.seesReset],
  };
}

/** A response that turns out to be malformed when its head has gone: the visitor's connection breaks. */
function cutsOff(name: string, fields: readonly string[], sound: string, rest: string): Conversation {
  return {
    name,
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(head('HTTP/1.1 200 OK', ...fields), sound),
      visitor.sees(head('HTTP/1.1 200 OK', ...fields), sound),
      origin.says(rest),
      visitor.seesReset,
      origin.seesReset,
    ],
  };
}

const chunked = 'Transfer-Encoding: chunked';

/** Bodies of requests, by length and in chunks. */
export const requestBodies: readonly Conversation[] = [
  sends('a body by its length', ['Content-Length: 5'], 'hello'),
  sends('a length of 0', ['Content-Length: 0'], ''),
  sends('a body of GET', ['Content-Length: 5'], 'hello', 'GET'),
  sends('a body of DELETE in chunks', [chunked], chunk('hello') + lastChunk, 'DELETE'),
  sends('1 MB by its length', [`Content-Length: ${big.length}`], big),
  sends('1 MB in chunks', [chunked], chunk(big) + lastChunk),
  sends('any bytes', ['Content-Length: 256'], Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('')),
  sends('a body that looks like a request', ['Content-Length: 37'], 'GET /x HTTP/1.1\r\nHost: other.test\r\n\r\n'),
  sends('chunks', [chunked], chunk('hello') + chunk('world') + lastChunk),
  sends('no chunk but the last', [chunked], lastChunk),
  sendsAs('the coding in another spelling', ['transfer-encoding: Chunked'], [chunked], chunk('hello') + lastChunk),
  sendsAs('a length in another spelling', ['content-LENGTH: 5'], ['Content-Length: 5'], 'hello'),
  sendsAs(
    'a trailer that would change the head',
    [chunked],
    [chunked],
    `${chunk('hello')}0\r\nHost: other.test\r\nX: 1\r\ncontent-length: 9\r\n\r\n`,
    `${chunk('hello')}0\r\nX: 1\r\n\r\n`,
  ),
  sends('sizes in capitals and with leading zeros', [chunked], '00A\r\n0123456789\r\n000\r\n\r\n'),
  sends('extensions of chunks', [chunked], '5;a=b;c="d e"\r\nhello\r\n0;last\r\n\r\n'),
  sends('a trailer', [chunked, 'Trailer: X-Sum'], `${chunk('hello')}0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n`),
  sends('line ends inside of a chunk', [chunked], chunk('\r\n0\r\n\r\n') + lastChunk),
  {
    name: 'a body arrives at the origin piece by piece, as it was sent',
    steps: [
      visitor.says(request('POST /', chunked)),
      origin.sees(forwarded('POST /', chunked)),
      visitor.says('5\r\nhe'),
      origin.sees('5\r\nhe'),
      visitor.says('llo\r'),
      origin.sees('llo\r'),
      visitor.says('\n'),
      origin.sees('\n'),
      visitor.says('0\r\n'),
      origin.sees('0\r\n'),
      visitor.says('\r\n'),
      origin.sees('\r\n'),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
      ...kept,
    ],
  },
  {
    name: 'an origin may answer before it has read the body; the connection ends with the answer',
    steps: [
      visitor.says(request('POST /', 'Content-Length: 1000'), 'abc'),
      origin.sees(forwarded('POST /', 'Content-Length: 1000'), 'abc'),
      origin.says(head('HTTP/1.1 413 Content Too Large', 'Content-Length: 3'), 'big'),
      visitor.sees(head('HTTP/1.1 413 Content Too Large', 'Content-Length: 3', 'Connection: close'), 'big'),
      visitor.seesEnd,
      origin.seesReset,
    ],
  },
  {
    name: 'an early answer that ends after the body does not end the body',
    steps: [
      visitor.says(request('POST /', 'Content-Length: 10'), 'abc'),
      origin.sees(forwarded('POST /', 'Content-Length: 10'), 'abc'),
      origin.says(head('HTTP/1.1 200 OK', 'Content-Length: 5'), 'he'),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 5', 'Connection: close'), 'he'),
      visitor.says('defghij'),
      origin.sees('defghij'),
      origin.says('llo'),
      visitor.sees('llo'),
      visitor.seesEnd,
      origin.seesEnd,
    ],
  },
  {
    name: 'both directions move at once',
    steps: [
      visitor.says(request('POST /', chunked)),
      origin.sees(forwarded('POST /', chunked)),
      origin.says(head('HTTP/1.1 200 OK', chunked)),
      visitor.sees(head('HTTP/1.1 200 OK', chunked, 'Connection: close')),
      ...['one', 'two', 'three'].flatMap((word) => [visitor.says(chunk(word)), origin.sees(chunk(word)), origin.says(chunk(word)), visitor.sees(chunk(word))]),
      visitor.says(lastChunk),
      origin.sees(lastChunk),
      origin.says(lastChunk),
      visitor.sees(lastChunk),
      visitor.seesEnd,
      origin.seesEnd,
    ],
  },
  {
    name: 'a malformed chunk in the middle of an early answer breaks the connection: no other answer gets into that one',
    steps: [
      visitor.says(request('POST /', chunked)),
      origin.sees(forwarded('POST /', chunked)),
      origin.says(head('HTTP/1.1 200 OK', 'Content-Length: 100'), 'begun'),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 100', 'Connection: close'), 'begun'),
      visitor.says('xyz\r\n'),
      visitor.seesReset,
      origin.seesReset,
    ],
  },
  {
    name: 'a malformed chunk before the answer is refused, and the origin sees a request that is cut off',
    steps: [
      visitor.says(request('POST /', chunked), chunk('hello')),
      origin.sees(forwarded('POST /', chunked), chunk('hello')),
      visitor.says('xyz\r\n'),
      visitor.isRefused(400),
      visitor.seesEnd,
      origin.seesReset,
    ],
  },
];

/** Bodies of responses, and what is none. */
export const responses: readonly Conversation[] = [
  answers('a body by its length', 'HTTP/1.1 200 OK', ['Content-Length: 5'], 'hello'),
  answers('a length of 0', 'HTTP/1.1 200 OK', ['Content-Length: 0']),
  answers('1 MB by its length', 'HTTP/1.1 200 OK', [`Content-Length: ${big.length}`], big),
  answers('1 MB in chunks', 'HTTP/1.1 200 OK', [chunked], chunk(big) + lastChunk),
  answers('chunks with extensions and a trailer', 'HTTP/1.1 200 OK', [chunked, 'Trailer: X'], `3;a="b"\r\nabc\r\n0\r\nX: 1\r\n\r\n`),
  answers('204 has no body', 'HTTP/1.1 204 No Content', ['X: 1']),
  answersAs('204 with a length loses it', ['HTTP/1.1 204 No Content', 'Content-Length: 5', 'X: 1'], ['HTTP/1.1 204 No Content', 'X: 1']),
  answersAs('204 with a coding loses it', ['HTTP/1.1 204 No Content', chunked, 'X: 1'], ['HTTP/1.1 204 No Content', 'X: 1']),
  answersAs('304 with a coding loses it', ['HTTP/1.1 304 Not Modified', chunked, 'X: 1'], ['HTTP/1.1 304 Not Modified', 'X: 1']),
  answersAs('a length with leading zeros', ['HTTP/1.1 200 OK', 'content-length: 0005'], ['HTTP/1.1 200 OK', 'Content-Length: 5'], 'hello'),
  answersAs('a coding in another spelling', ['HTTP/1.1 200 OK', 'transfer-ENCODING: Chunked'], ['HTTP/1.1 200 OK', chunked], chunk('hello') + lastChunk),
  answersAs(
    'a trailer that would change the head',
    ['HTTP/1.1 200 OK', chunked],
    ['HTTP/1.1 200 OK', chunked],
    `${chunk('a')}0\r\nX: 1\r\nTransfer_Encoding: x\r\nSet-Cookie: a=b\r\n\r\n`,
    `${chunk('a')}0\r\nX: 1\r\n\r\n`,
  ),
  answers('304 has no body, whatever length it gives', 'HTTP/1.1 304 Not Modified', ['Content-Length: 500', 'ETag: "1"']),
  answers('a reason of several words', 'HTTP/1.1 299 Quite All Right', ['Content-Length: 0']),
  answers('a status that nobody knows', 'HTTP/1.1 599 ', ['Content-Length: 2'], 'no'),
  answers('a redirection stays as it is', 'HTTP/1.1 302 Found', ['Location: http://127.0.0.1:3000/x', 'Content-Length: 0']),
  answers('several cookies stay several fields', 'HTTP/1.1 200 OK', ['Set-Cookie: a=1', 'Set-Cookie: b=2; Path=/', 'Content-Length: 0']),
  answers('bytes beyond ASCII in a value', 'HTTP/1.1 200 OK', ['X: \xe4\xff', 'Content-Length: 0']),
  answers('an empty value', 'HTTP/1.1 200 OK', ['X: ', 'Content-Length: 0']),
  answers('a coding before the chunks', 'HTTP/1.1 200 OK', ['Transfer-Encoding: gzip, chunked'], chunk('packed') + lastChunk),
  {
    name: "a body that ends with the connection: the visitor's ends too",
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(head('HTTP/1.1 200 OK', 'X: 1'), 'hel'),
      visitor.sees(head('HTTP/1.1 200 OK', 'X: 1', 'Connection: close'), 'hel'),
      origin.says('lo'),
      visitor.sees('lo'),
      origin.ends,
      visitor.seesEnd,
    ],
  },
  {
    name: 'an origin of HTTP/1.0 answers until the end of its connection',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(head('HTTP/1.0 200 OK'), 'hello'),
      origin.ends,
      visitor.sees(head('HTTP/1.1 200 OK', 'Connection: close'), 'hello'),
      visitor.seesEnd,
    ],
  },
  {
    name: 'a visitor of HTTP/1.0 gets no chunks, even if the origin sends chunks',
    steps: [
      visitor.says(head('GET / HTTP/1.0', 'Host: example.test')),
      origin.sees(forwarded('GET /').replace('HTTP/1.1', 'HTTP/1.0')),
      origin.says(head('HTTP/1.1 200 OK', chunked), chunk('hel')),
      visitor.sees(head('HTTP/1.1 200 OK', 'Connection: close'), 'hel'),
      origin.says(chunk('lo'), lastChunk),
      visitor.sees('lo'),
      visitor.seesEnd,
    ],
  },
  breaks('an answer that is no HTTP', 'hello\r\n\r\n'),
  breaks('a status line without version', head('200 OK')),
  breaks('HTTP/2 in the status line', head('HTTP/2.0 200 OK')),
  breaks('a status of two digits', head('HTTP/1.1 20 OK')),
  breaks('bare line feeds', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'),
  breaks('a line that continues the one before', head('HTTP/1.1 200 OK', 'X: 1', ' 2')),
  breaks('a blank before a colon', head('HTTP/1.1 200 OK', 'Content-Length : 5')),
  breaks('a length beside chunks', head('HTTP/1.1 200 OK', 'Content-Length: 5', chunked)),
  breaks('two lengths', head('HTTP/1.1 200 OK', 'Content-Length: 5', 'Content-Length: 6')),
  breaks('a length that is no number', head('HTTP/1.1 200 OK', 'Content-Length: 5x')),
  breaks('a coding after the chunks', head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked, gzip')),
  breaks('a coding with an empty element', head('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked,')),
  breaks('a coding that is not chunked', head('HTTP/1.1 200 OK', 'Transfer-Encoding: gzip')),
  breaks('a head of more than 32 KB', head('HTTP/1.1 200 OK', `X: ${'x'.repeat(33_000)}`)),
  breaks('more than 128 fields', head('HTTP/1.1 200 OK', ...Array.from({ length: 130 }, (_, n) => `X-${n}: 1`))),
  cutsOff('a chunk whose size is no number', [chunked], chunk('abc'), 'x\r\n'),
  cutsOff('a chunk that is longer than its size', [chunked], chunk('abc'), '1\r\nabc\r\n'),
  cutsOff('a chunk that ends in a bare line feed', [chunked], chunk('abc'), '1\na\n'),
  {
    name: 'what an origin sends beyond its answer reaches nobody, and its connection is not used again',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(ok, 'ok', head('HTTP/1.1 200 OK', 'Content-Length: 6'), 'poison'),
      visitor.sees(ok, 'ok'),
      origin.seesEnd,
      visitor.says(request('GET /next')),
      origin.accepts,
      origin.sees(forwarded('GET /next')),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
    ],
  },
];
