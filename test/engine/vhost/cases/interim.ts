import { type Conversation, forwarded, head, origin, request, visitorFields, visitor } from '../../../support/conversation.ts';

const ok = head('HTTP/1.1 200 OK', 'Content-Length: 2');
const kept = [visitor.says(request('GET /next')), origin.sees(forwarded('GET /next')), origin.says(ok, 'ok'), visitor.sees(ok, 'ok')];
const expecting = ['Content-Length: 5', 'Expect: 100-continue'];

const hints = (count: number): string[] => Array.from({ length: count }, () => head('HTTP/1.1 103 Early Hints', 'Link: </a.css>'));
const long = head('HTTP/1.1 103 Early Hints', `Link: ${'a'.repeat(25_000)}`);

/** Responses before the response, and bodies that wait for one. */
export const interim: readonly Conversation[] = [
  {
    name: 'a body waits for 100, which comes from the origin',
    steps: [
      visitor.says(request('POST /', ...expecting)),
      origin.sees(forwarded('POST /', ...expecting)),
      origin.says(head('HTTP/1.1 100 Continue')),
      visitor.sees(head('HTTP/1.1 100 Continue')),
      visitor.says('hello'),
      origin.sees('hello'),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
      ...kept,
    ],
  },
  {
    name: "a body that doesn't wait for its 100 passes",
    steps: [
      visitor.says(request('POST /', ...expecting), 'hello'),
      origin.sees(forwarded('POST /', ...expecting), 'hello'),
      origin.says(head('HTTP/1.1 100 Continue'), ok, 'ok'),
      visitor.sees(head('HTTP/1.1 100 Continue'), ok, 'ok'),
      ...kept,
    ],
  },
  {
    name: 'an interim response has no length and no coding',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(
        head('HTTP/1.1 103 Early Hints', 'Content-Length: 5', 'Link: </a>'),
        head('HTTP/1.1 103 Early Hints', 'Transfer-Encoding: chunked', 'X: 1'),
        ok,
        'ok',
      ),
      visitor.sees(head('HTTP/1.1 103 Early Hints', 'Link: </a>'), head('HTTP/1.1 103 Early Hints', 'X: 1'), ok, 'ok'),
      ...kept,
    ],
  },
  {
    name: 'an origin may answer instead of 100; the connection ends, since the body may come or not',
    steps: [
      visitor.says(request('POST /', ...expecting)),
      origin.sees(forwarded('POST /', ...expecting)),
      origin.says(head('HTTP/1.1 417 Expectation Failed', 'Content-Length: 0')),
      visitor.sees(head('HTTP/1.1 417 Expectation Failed', 'Content-Length: 0', 'Connection: close')),
      visitor.seesEnd,
      origin.seesReset,
    ],
  },
  {
    name: 'chunks that wait for 100',
    steps: [
      visitor.says(request('PUT /', 'Transfer-Encoding: chunked', 'Expect: 100-continue')),
      origin.sees(forwarded('PUT /', 'Transfer-Encoding: chunked', 'Expect: 100-continue')),
      origin.says(head('HTTP/1.1 100 Continue')),
      visitor.sees(head('HTTP/1.1 100 Continue')),
      visitor.says('2\r\nhi\r\n0\r\n\r\n'),
      origin.sees('2\r\nhi\r\n0\r\n\r\n'),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
      ...kept,
    ],
  },
  {
    name: 'early hints come before the answer, with their fields',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(head('HTTP/1.1 103 Early Hints', 'Link: </a.css>; rel=preload')),
      visitor.sees(head('HTTP/1.1 103 Early Hints', 'Link: </a.css>; rel=preload')),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
      ...kept,
    ],
  },
  {
    name: 'several interim responses at once',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(head('HTTP/1.1 102 Processing'), head('HTTP/1.1 102 Processing'), head('HTTP/1.1 103 Early Hints'), ok, 'ok'),
      visitor.sees(head('HTTP/1.1 102 Processing'), head('HTTP/1.1 102 Processing'), head('HTTP/1.1 103 Early Hints'), ok, 'ok'),
      ...kept,
    ],
  },
  {
    name: '16 interim responses are let through, and the answer after them',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(...hints(16), ok, 'ok'),
      visitor.sees(...hints(16), ok, 'ok'),
      ...kept,
    ],
  },
  {
    name: 'one interim response more, and the origin does not answer properly',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(...hints(17)),
      visitor.sees(...hints(16)),
      visitor.isRefused(502),
      visitor.seesEnd,
      origin.seesReset,
    ],
  },
  {
    name: 'more than 64 KB of interim responses are too much, too',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(long, long, long),
      visitor.sees(long, long),
      visitor.isRefused(502),
      visitor.seesEnd,
      origin.seesReset,
    ],
  },
  {
    name: 'an interim response loses what concerns one connection only',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(head('HTTP/1.1 103 Early Hints', 'Connection: x', 'X: 1', 'Keep-Alive: 5', 'Link: a'), ok, 'ok'),
      visitor.sees(head('HTTP/1.1 103 Early Hints', 'Link: a'), ok, 'ok'),
      ...kept,
    ],
  },
  {
    name: 'a visitor of HTTP/1.0 gets no interim responses',
    steps: [
      visitor.says(head('GET / HTTP/1.0', 'Host: example.test')),
      origin.sees(head('GET / HTTP/1.0', 'Host: example.test', ...visitorFields)),
      origin.says(head('HTTP/1.1 103 Early Hints'), ok, 'ok'),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 2', 'Connection: close'), 'ok'),
      visitor.seesEnd,
    ],
  },
  {
    name: 'an interim response and no answer: the origin does not answer properly',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(head('HTTP/1.1 103 Early Hints')),
      visitor.sees(head('HTTP/1.1 103 Early Hints')),
      origin.ends,
      visitor.isRefused(502),
      visitor.seesEnd,
    ],
  },
  {
    name: 'a change of protocol that nobody asked for is no proper answer',
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(head('HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket')),
      visitor.isRefused(502),
      visitor.seesEnd,
      origin.seesReset,
    ],
  },
];

const upgrade = ['Connection: Upgrade', 'Upgrade: websocket'];
const asked = request('GET /ws', 'Sec-WebSocket-Key: x', ...upgrade);
const passed = forwarded('GET /ws', 'Sec-WebSocket-Key: x', ...upgrade);
const switching = head('HTTP/1.1 101 Switching Protocols', ...upgrade, 'Sec-WebSocket-Accept: y');
const opened = [visitor.says(asked), origin.sees(passed), origin.says(switching), visitor.sees(switching)];
const any = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');
const big = any.repeat(8 * 1024);

/** Connections that become something else than HTTP. */
export const upgrades: readonly Conversation[] = [
  {
    name: 'any bytes pass both ways after an upgrade',
    steps: [...opened, visitor.says(any), origin.sees(any), origin.says(any), visitor.sees(any), visitor.ends, origin.seesEnd, origin.ends, visitor.seesEnd],
  },
  {
    name: 'what either side says at once with the upgrade passes',
    steps: [
      visitor.says(asked, 'first'),
      origin.sees(passed),
      origin.says(switching, 'greeting'),
      visitor.sees(switching, 'greeting'),
      origin.sees('first'),
      visitor.ends,
      origin.seesEnd,
      origin.ends,
      visitor.seesEnd,
    ],
  },
  {
    name: 'a visitor that ends its direction before the upgrade still gets what the origin sends, which sees that end',
    steps: [
      visitor.says(asked, 'first'),
      visitor.ends,
      origin.sees(passed),
      origin.says(switching, 'greeting'),
      visitor.sees(switching, 'greeting'),
      origin.sees('first'),
      origin.seesEnd,
      origin.says('bye'),
      origin.ends,
      visitor.sees('bye'),
      visitor.seesEnd,
    ],
  },
  {
    name: '2 MB pass both ways after an upgrade',
    steps: [...opened, visitor.says(big), origin.says(big), origin.sees(big), visitor.sees(big), visitor.ends, origin.seesEnd, origin.ends, visitor.seesEnd],
  },
  {
    name: 'a visitor that half-closes the connection still gets what the origin sends',
    steps: [
      ...opened,
      visitor.says('bye'),
      visitor.ends,
      origin.sees('bye'),
      origin.seesEnd,
      origin.says(big),
      origin.ends,
      visitor.sees(big),
      visitor.seesEnd,
    ],
  },
  {
    name: 'an origin that ends its direction still gets what the visitor says',
    steps: [
      ...opened,
      origin.says('bye'),
      origin.ends,
      visitor.sees('bye'),
      visitor.seesEnd,
      visitor.says(big),
      visitor.ends,
      origin.sees(big),
      origin.seesEnd,
    ],
  },
  { name: 'a visitor who breaks off is broken off at the origin', steps: [...opened, visitor.says('a'), origin.sees('a'), visitor.resets, origin.seesReset] },
  { name: 'an origin that breaks off is broken off at the visitor', steps: [...opened, visitor.says('a'), origin.sees('a'), origin.resets, visitor.seesReset] },
  {
    name: 'an upgrade that is not taken is an ordinary request',
    steps: [
      visitor.says(asked),
      origin.sees(passed),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
      ...kept,
    ],
  },
  {
    name: 'what was sent ahead of an upgrade that is not taken is read as HTTP',
    steps: [
      visitor.says(asked, '\x81\x05hello\r\n\r\n'),
      origin.sees(passed),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
      visitor.isRefused(400),
      visitor.seesEnd,
      origin.seesEnd,
    ],
  },
  {
    name: 'Upgrade without Connection asks for nothing',
    steps: [visitor.says(request('GET /', 'Upgrade: websocket')), origin.sees(forwarded('GET /')), origin.says(ok, 'ok'), visitor.sees(ok, 'ok'), ...kept],
  },
  {
    name: 'cleartext HTTP/2 is not asked for',
    steps: [
      visitor.says(request('GET /', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk')),
      origin.sees(forwarded('GET /')),
      origin.says(ok, 'ok'),
      visitor.sees(ok, 'ok'),
      ...kept,
    ],
  },
  {
    name: 'HTTP/1.0 knows no upgrades',
    steps: [
      visitor.says(head('GET / HTTP/1.0', 'Host: example.test', ...upgrade)),
      origin.sees(head('GET / HTTP/1.0', 'Host: example.test', ...visitorFields)),
      origin.says(ok, 'ok'),
      visitor.sees(head('HTTP/1.1 200 OK', 'Content-Length: 2', 'Connection: close'), 'ok'),
      visitor.seesEnd,
    ],
  },
  {
    name: 'a change of protocol has no length and no coding',
    steps: [
      visitor.says(request('GET /', ...upgrade)),
      origin.sees(forwarded('GET /', ...upgrade)),
      origin.says(head('HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Content-Length: 5', 'Upgrade: websocket'), 'frame'),
      visitor.sees(head('HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket'), 'frame'),
      visitor.ends,
      origin.seesEnd,
      origin.ends,
      visitor.seesEnd,
    ],
  },
  {
    name: 'other protocols than WebSocket may be changed to, after a body too',
    steps: [
      visitor.says(request('POST /', 'Content-Length: 2', 'Connection: keep-alive, upgrade', 'Upgrade: tls/1.2, spoken'), 'hi'),
      origin.sees(forwarded('POST /', 'Content-Length: 2', 'Connection: Upgrade', 'Upgrade: tls/1.2, spoken'), 'hi'),
      origin.says(head('HTTP/1.1 101 Switching Protocols', 'Connection: upgrade', 'Upgrade: spoken')),
      visitor.sees(head('HTTP/1.1 101 Switching Protocols', 'Connection: upgrade', 'Upgrade: spoken')),
      visitor.says('GET / HTTP/1.1\r\n\r\n'),
      origin.sees('GET / HTTP/1.1\r\n\r\n'),
      visitor.ends,
      origin.seesEnd,
      origin.ends,
      visitor.seesEnd,
    ],
  },
];
