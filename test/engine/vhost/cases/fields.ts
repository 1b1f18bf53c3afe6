import { type Conversation, forwarded, head, origin, request, visitorFields, visitor } from '../../../support/conversation.ts';

const ok = head('HTTP/1.1 200 OK', 'Content-Length: 2');
const answer = [origin.says(ok, 'ok'), visitor.sees(ok, 'ok')];

/** Fields of a request, and those of them that the origin gets. */
function fields(name: string, sent: readonly string[], seen: readonly string[], host?: Conversation['host']): Conversation {
  return { name, ...(host && { host }), steps: [visitor.says(request('GET /', ...sent)), origin.sees(forwarded('GET /', ...seen)), ...answer] };
}

/** The host's own headers, which come last. */
function own(name: string, headers: readonly string[], sent: readonly string[], seen: readonly string[]): Conversation {
  return { name, host: { headers }, steps: [visitor.says(request('GET /', ...sent)), origin.sees(head('GET / HTTP/1.1', ...seen)), ...answer] };
}

/** Fields of a response, and those of them that the visitor gets. */
function response(name: string, sent: readonly string[], seen: readonly string[]): Conversation {
  return {
    name,
    steps: [
      visitor.says(request('GET /')),
      origin.sees(forwarded('GET /')),
      origin.says(head('HTTP/1.1 200 OK', ...sent, 'Content-Length: 2'), 'ok'),
      visitor.sees(head('HTTP/1.1 200 OK', ...seen, 'Content-Length: 2'), 'ok'),
    ],
  };
}

/** What an origin receives about a visitor whose request came from a trusted proxy, 127.0.0.9. */
function behindProxy(
  name: string,
  sent: readonly string[],
  said: { readonly passed?: string; readonly real?: string; readonly scheme?: string; readonly host?: string },
): Conversation {
  const { passed = '127.0.0.9', real = '127.0.0.9', scheme = 'http', host = 'example.test' } = said;
  return {
    name,
    from: '127.0.0.9',
    steps: [
      visitor.says(request('GET /', ...sent)),
      origin.sees(
        head(
          'GET / HTTP/1.1',
          'Host: example.test',
          `X-Forwarded-For: ${passed}`,
          `X-Real-IP: ${real}`,
          `X-Forwarded-Proto: ${scheme}`,
          `X-Forwarded-Host: ${host}`,
        ),
      ),
      ...answer,
    ],
  };
}

const edited = 'Host: example.test';

/** What becomes of header fields. */
export const headerFields: readonly Conversation[] = [
  fields('fields pass in their order, each as it is spelled', ['X-b: 2', 'x-A: 1', 'X-b: 3', 'Cookie: a=b; c=d', 'Accept: */*'], [
    'X-b: 2',
    'x-A: 1',
    'X-b: 3',
    'Cookie: a=b; c=d',
    'Accept: */*',
  ]),
  fields('blanks around a value are nothing, those inside are', ['X:   a  b\t c  \t'], ['X: a  b\t c']),
  fields('bytes beyond ASCII in a value', ['X: \xe4\xf6\xff'], ['X: \xe4\xf6\xff']),
  fields('an empty value', ['X:', 'Y: 1'], ['X: ', 'Y: 1']),
  fields('a value of 16 KB', [`X: ${'x'.repeat(16_384)}`], [`X: ${'x'.repeat(16_384)}`]),
  fields('120 fields', Array.from({ length: 120 }, (_, n) => `X-${n}: ${n}`), Array.from({ length: 120 }, (_, n) => `X-${n}: ${n}`)),
  fields('what concerns one connection only stays behind', [
    'Connection: keep-alive',
    'Keep-Alive: timeout=5',
    'Proxy-Connection: keep-alive',
    'TE: trailers',
    'Proxy-Authorization: Basic eDp5',
    'X: 1',
  ], ['X: 1']),
  fields('what Connection names stays behind', ['Connection: x-secret, X-Other', 'X-Secret: 1', 'x-other: 2', 'X-Third: 3'], ['X-Third: 3']),
  fields('what several Connections name stays behind', ['Connection: x-one', 'X-One: 1', 'Connection: x-two', 'X-Two: 2'], []),
  fields("Connection can't take away cookies or credentials", ['Connection: cookie, authorization', 'Cookie: a=b', 'Authorization: Bearer x'], [
    'Cookie: a=b',
    'Authorization: Bearer x',
  ]),
  fields('fields in which a visitor states its own address are replaced', [
    'X-Forwarded-For: 192.0.2.1',
    'x-real-ip: 192.0.2.2',
    'X-Forwarded-Proto: https',
    'X-FORWARDED-HOST: evil.test',
    'Forwarded: for=192.0.2.1',
    'X: 1',
  ], ['X: 1']),
  fields("Connection can't take away what the server says of a visitor", ['Connection: x-forwarded-for, x-real-ip'], []),
  fields('Authorization passes to a host without password', ['Authorization: Basic eDp5'], ['Authorization: Basic eDp5']),
  fields('Via, Max-Forwards and the like pass', ['Via: 1.1 other', 'Max-Forwards: 3', 'Cache-Control: no-cache', 'Range: bytes=0-1'], [
    'Via: 1.1 other',
    'Max-Forwards: 3',
    'Cache-Control: no-cache',
    'Range: bytes=0-1',
  ]),
  fields('what CGI would take for what the server says stays behind', [
    'X_Forwarded_For: 192.0.2.1',
    'x_real_ip: 192.0.2.2',
    'X-Forwarded_Proto: https',
    'X_FORWARDED_HOST: evil.test',
    'X: 1',
  ], ['X: 1']),
  fields('what CGI would take for framing, or for what concerns one connection, stays behind', [
    'Content_Length: 5',
    'Transfer_Encoding: chunked',
    'Keep_Alive: 1',
    'Proxy_Authorization: x',
    'X_A: 1',
  ], ['X_A: 1']),
  fields('what CGI would take for the proxy to use stays behind', ['Proxy: http://evil.test', 'PROXY: x', 'X: 1'], ['X: 1']),
  fields('sessions of the panel stay behind, other cookies pass', [
    'Cookie: a=b; beegosessionID=s; c=d',
    'cookie: __Host-beegosessionID=s',
    'Cookie: e=f;beegosessionID = "s"',
    'Cookie: xbeegosessionID=1',
  ], ['Cookie: a=b; c=d', 'Cookie: e=f', 'Cookie: xbeegosessionID=1']),
  own('the host may set cookies by its headers', ['Cookie: a=b'], ['Cookie: c=d; beegosessionID=s'], [edited, ...visitorFields, 'Cookie: a=b']),
  own('what CGI would take for a header of the host stays behind', ['X-Team-Id: a', 'X_Role: b'], [
    'X_Team_Id: evil',
    'x-team_id: evil',
    'X-Role: evil',
    'Y: 1',
  ], [edited, 'Y: 1', ...visitorFields, 'X-Team-Id: a', 'X_Role: b']),
  own('a header of the host is added', ['X-Team: a'], [], [edited, ...visitorFields, 'X-Team: a']),
  own('a header of the host replaces all that came under its name', ['X-Team: a'], ['x-team: 1', 'X-TEAM: 2', 'Y: 3'], [
    edited,
    'Y: 3',
    ...visitorFields,
    'X-Team: a',
  ]),
  own('several headers of the host', ['A: 1', 'B: 2', 'A: 3'], ['a: x'], [edited, ...visitorFields, 'A: 1', 'B: 2', 'A: 3']),
  own('a value with colons and blanks', ['X:  a: b  c:d '], [], [edited, ...visitorFields, 'X: a: b  c:d']),
  own('an empty value of the host takes away what came', ['X:'], ['x: secret'], [edited, ...visitorFields, 'X: ']),
  own('a value beyond Latin-1 goes as UTF-8', ['X: grün €'], [], [edited, ...visitorFields, `X: ${Buffer.from('grün €').toString('latin1')}`]),
  own('the host may set the credentials of its origin', ['Authorization: Bearer origin'], ['Authorization: Bearer visitor'], [
    edited,
    ...visitorFields,
    'Authorization: Bearer origin',
  ]),
  own('the host may set what is said of the visitor', ['X-Forwarded-Proto: https'], [], [
    edited,
    ...visitorFields.filter((line) => !line.startsWith('X-Forwarded-Proto')),
    'X-Forwarded-Proto: https',
  ]),
  own('the host may set Host by its headers', ['Host: inner.test'], [], [...visitorFields, 'Host: inner.test']),
  own(
    "a header of the host can't change where the body ends or how the connection goes on",
    ['Content-Length: 5', 'Transfer-Encoding: chunked', 'Connection: close', 'Upgrade: x', 'Expect: 100-continue', 'X: 1'],
    [],
    [edited, ...visitorFields, 'X: 1'],
  ),
  {
    name: 'hostchange replaces Host, and X-Forwarded-Host tells the one that was asked for',
    host: { hostChange: 'inner.test:3000' },
    steps: [visitor.says(request('GET /')), origin.sees(head('GET / HTTP/1.1', 'Host: inner.test:3000', ...visitorFields)), ...answer],
  },
  {
    // The low byte of this letter is a CR.
    name: 'a hostchange and a header beyond Latin-1 add no line',
    host: { hostChange: 'a\u010d\u010aX-Evil: 1', headers: ['X: b\u010d\u010aX-Evil: 2', 'bad\u010d: x', 'no colon'] },
    steps: [
      visitor.says(request('GET /')),
      origin.sees(
        head(
          'GET / HTTP/1.1',
          `Host: ${Buffer.from('a\u010d\u010aX-Evil: 1').toString('latin1')}`,
          ...visitorFields,
          `X: ${Buffer.from('b\u010d\u010aX-Evil: 2').toString('latin1')}`,
        ),
      ),
      ...answer,
    ],
  },
  {
    name: "hostchange wins over a Host of the host's headers",
    host: { hostChange: 'inner.test', headers: ['Host: other.test', 'X: 1'] },
    steps: [visitor.says(request('GET /')), origin.sees(head('GET / HTTP/1.1', 'Host: inner.test', ...visitorFields, 'X: 1')), ...answer],
  },
  {
    name: 'without hostchange Host passes as it was sent, with port and capitals',
    steps: [
      visitor.says(head('GET / HTTP/1.1', 'X: 1', 'HOST: Example.TEST:8000')),
      origin.sees(head('GET / HTTP/1.1', 'Host: Example.TEST:8000', 'X: 1', ...visitorFields.slice(0, 3), 'X-Forwarded-Host: Example.TEST:8000')),
      ...answer,
    ],
  },
  behindProxy('a trusted proxy that says nothing is the visitor', [], {}),
  behindProxy("the proxy's address is appended to what it says", ['X-Forwarded-For: 192.0.2.1'], { passed: '192.0.2.1, 127.0.0.9', real: '192.0.2.1' }),
  behindProxy('the port that a proxy adds to an address is no part of it', ['X-Forwarded-For: 192.0.2.1:5678, 192.0.2.2'], {
    passed: '192.0.2.1:5678, 192.0.2.2, 127.0.0.9',
    real: '192.0.2.1',
  }),
  behindProxy('several fields become one', ['X-Forwarded-For: 192.0.2.1, 192.0.2.2', 'X-Forwarded-For: 192.0.2.3'], {
    passed: '192.0.2.1, 192.0.2.2, 192.0.2.3, 127.0.0.9',
    real: '192.0.2.1',
  }),
  behindProxy('scheme and host of a trusted proxy are believed', ['X-Forwarded-Proto: https', 'X-Forwarded-Host: public.test'], {
    scheme: 'https',
    host: 'public.test',
  }),
  behindProxy('X-Real-IP of a trusted proxy is believed', ['X-Real-IP: 192.0.2.7', 'X-Forwarded-For: 192.0.2.1'], {
    passed: '192.0.2.1, 127.0.0.9',
    real: '192.0.2.7',
  }),
  response('fields of a response pass in their order, each as it is spelled', ['X-b: 2', 'x-A: 1', 'Server: something', 'Date: then'], [
    'X-b: 2',
    'x-A: 1',
    'Server: something',
    'Date: then',
  ]),
  response("what concerns the origin's connection only stays behind", [
    'Connection: keep-alive, x-secret',
    'Keep-Alive: timeout=5',
    'X-Secret: 1',
    'Proxy-Authenticate: Basic',
    'Upgrade: h2c',
    'X: 1',
  ], ['X: 1']),
  response("a session of the panel can't be planted", [
    'Set-Cookie: a=b',
    'Set-Cookie: beegosessionID=evil; Domain=example.test',
    'set-cookie: =beegosessionID=evil',
    'SET-COOKIE: __Host-beegosessionID=evil; Secure',
  ], ['Set-Cookie: a=b']),
  response('challenges, cookies and policies pass', [
    'WWW-Authenticate: Digest realm="x"',
    'Set-Cookie: a=b; Secure; HttpOnly',
    "Content-Security-Policy: default-src 'self'",
    'Alt-Svc: h3=":443"',
  ], ['WWW-Authenticate: Digest realm="x"', 'Set-Cookie: a=b; Secure; HttpOnly', "Content-Security-Policy: default-src 'self'", 'Alt-Svc: h3=":443"']),
];
