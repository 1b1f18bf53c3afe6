/** Lines of fields as they come, and as they come from those who look for gaps. */
export const fieldLines: readonly string[] = [
  'Accept: */*', 'accept: text/html', 'Accept:*/*', 'Accept:  */*', 'Accept: */* ', 'Accept: */*\t', 'Accept:\t*/*', 'Accept: a\tb', 'Accept:', 'Accept: ', 'Accept : a', ' Accept: a', '\tb', 'Accept', ': a', 'Acc\xe9pt: a',
  'User-Agent: caf\xe9', 'X: \x01', 'X: a\0b', 'X: a\rb', 'X: a\nb', 'X: \x7f', 'X: \xff', 'X_Y: 1', "!#$%&'*+.^`|~: 1", `X: ${'y'.repeat(300)}`, `${'N'.repeat(40)}: 1`,
  'Host: b', 'host: a', 'HOST: a', 'Host: a:80', 'Host: [::1]:80', 'Host: a/b', 'Host: a@b', 'Host:', 'Host: a b', 'Host: \xe9', 'Host: a,b', 'Ho_st: a', 'Host : a',
  'Connection: keep-alive', 'Connection: Keep-Alive', 'connection: close', 'Connection: CLOSE', 'Connection: close, x', 'Connection: x', 'Connection: host', 'Connection: upgrade', 'Connection: content-length', 'Connection:',
  'Close: x', 'Keep-Alive: timeout=5', 'keep-alive: 1', 'Proxy-Connection: keep-alive', 'Proxy: http://evil', 'Proxy-Authorization: Basic YTpi', 'TE: trailers', 'Trailer: X', 'Upgrade: websocket', 'Upgrade: h2c', 'HTTP2-Settings: AAM', 'Expect: 100-continue', 'Expect: x',
  'Content-Length: 0', 'Content-Length: 5', 'content-length: 5', 'Content-Length: 05', 'Content-Length: +5', 'Content-Length: -1', 'Content-Length: 5, 5', 'Content-Length: 5 5', 'Content-Length: 0x5', 'Content-Length: 5.0', 'Content-Length:', 'Content-Length: 999999999999999', 'Content-Length: 9999999999999999', 'Content-Length:5', 'Content_Length: 5', 'Content-Length : 5', 'Content-Length: \xb2',
  'Transfer-Encoding: chunked', 'transfer-encoding: chunked', 'Transfer-Encoding: Chunked', 'Transfer-Encoding: chunked,', 'Transfer-Encoding: , chunked', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: chunked, gzip', 'Transfer-Encoding: identity', 'Transfer-Encoding: xchunked', 'Transfer-Encoding: chunked;a=b', 'Transfer-Encoding:\x0bchunked', 'Transfer-Encoding:', 'Transfer_Encoding: chunked', 'Transfer-Encoding : chunked', 'Transfer-Encoding: "chunked"',
  'Cookie: a=b', 'Cookie: beegosessionID=1', 'Cookie: a=b; beegosessionID=1; c=d', 'cookie: __Host-beegosessionID=1', 'Cookie: beegosessionIDs=1', 'Set-Cookie: a=b', 'Set-Cookie: beegosessionID=1', 'Set-Cookie: =beegosessionID=1', 'Set-Cookie: x=beegosessionID',
  'X-Forwarded-For: 192.0.2.9', 'x_forwarded_for: 192.0.2.9', 'X-Real-IP: 192.0.2.9', 'X-Forwarded-Proto: https', 'X-Forwarded-Host: evil', 'Forwarded: for=x', 'Authorization: Basic YTpi', 'Content-Type: text/plain', 'Date: now',
];
/** Lines that mean something together. */
const pairs = fieldLines.filter((line) => /^(?:host|connection|close|keep-alive|content-length|transfer-encoding|cookie|te|upgrade|trailer): [\w, =-]+$/i.test(line));
/** Targets of requests. */
export const requestTargets: readonly string[] = [
  '/', '/a', '/a?b=c', '/a/b/', '//a', '/a//b', '/.', '/..', '/a/../b', '/%2e%2e/a', '/a%2f..', '/a;b', '/\\a', '/a#b', '*', 'http://a/', 'http://b/x?y', 'https://a', 'http://u@a/', 'a:443', '/\xe9', '/a b', '', '/%00', '/?', '/?/../', '/a?%2e%2e',
];
const starts = ['GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'CONNECT', 'get', 'PROPFIND', 'G@T', 'GETX'];
const versions = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.1 ', 'HTTP/1.', 'HTTP/1.11'];
/** First lines of responses. */
export const statusLines: readonly string[] = [
  'HTTP/1.1 200 OK', 'HTTP/1.1 200 ', 'HTTP/1.1 200', 'HTTP/1.0 200 OK', 'HTTP/1.1 204 No', 'HTTP/1.1 304 Same', 'HTTP/1.1 100 Go', 'HTTP/1.1 101 Other', 'HTTP/1.1 404 caf\xe9', 'HTTP/1.1 599 x\ty', 'HTTP/1.1 600 x', 'HTTP/1.1 099 x', 'HTTP/1.1  200 OK', 'HTTP/1.1 200\tOK',
  'HTTP/1.1 2000 OK', 'HTTP/1.1 20 OK', 'HTTP/1.1 +20 OK', 'HTTP/1.2 200 OK', 'HTTP/2.0 200 OK', 'HTTP/1.1 500 a b c ',
];

/** A head of these lines. */
function head(...of: readonly string[]): Buffer {
  return Buffer.from(`${of.join('\r\n')}\r\n\r\n`, 'latin1');
}

function withFields(start: string, ...before: readonly string[]): Buffer[] {
  return [
    ...fieldLines.map((line) => head(start, ...before, line)),
    ...fieldLines.map((line) => head(start, line, ...before, 'Accept: z')),
    ...pairs.flatMap((one) => pairs.map((other) => head(start, ...before, one, 'X: y', other))),
  ];
}

/** Requests, of which all is written down that becomes of them (recorded.json). Only ever add to the end. */
export const requestCorpus: readonly Buffer[] = [
  ...starts.flatMap((method) => versions.map((version) => head(`${method} / ${version}`, 'Host: a'))),
  ...requestTargets.flatMap((target) => [head(`GET ${target} HTTP/1.1`, 'Host: a'), head(`OPTIONS ${target} HTTP/1.1`, 'Host: a')]),
  head('GET / HTTP/1.1'), head('GET / HTTP/1.0'), head(''), Buffer.from('GET / HTTP/1.1\nHost: a\n\n'), Buffer.from('GET / HTTP/1.1\r\nHost: a\n\r\n'), Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n'),
  ...withFields('GET / HTTP/1.1', 'Host: a'), ...withFields('POST /x HTTP/1.1', 'Host: a'), ...withFields('GET / HTTP/1.0'),
];

/** Responses, the same. */
export const responseCorpus: readonly Buffer[] = [
  ...statusLines.flatMap((line) => [head(line), head(line, 'Content-Length: 5'), head(line, 'Transfer-Encoding: chunked')]),
  Buffer.from('HTTP/1.1 200 OK\nA: b\n\n'), Buffer.from('HTTP/1.1 200 OK\r\nA: b\r\n'),
  ...withFields('HTTP/1.1 200 OK'), ...withFields('HTTP/1.1 304 Same'), ...withFields('HTTP/1.0 200 OK'),
];
