/** What a smuggled request would look like to a target. */
export const inner = 'GET /smuggled HTTP/1.1\r\nHost: example.test\r\n\r\n';
export const start = 'POST / HTTP/1.1\r\nHost: example.test\r\n';

/** Fields that leave open, or make up, how long the body is. */
export const framings = [
  'Content-Length: 5\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nContent-Length: 5', 'Content-Length: 0\r\nTransfer-Encoding: chunked',
  'Content-Length: 5\r\ntransfer-encoding: chunked', 'Content-Length: 5\r\nTRANSFER-ENCODING: CHUNKED', 'Content-Length: 5\r\nTransfer-Encoding: identity',
  'Content-Length: 5\r\nTransfer-Encoding:', 'Content-Length: 5\r\nTransfer-Encoding:chunked', 'Content-Length: 5\r\nTransfer-Encoding:\tchunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', 'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked, identity', 'Transfer-Encoding: identity, chunked', 'Transfer-Encoding: chunked, chunked', 
  'Transfer-Encoding: xchunked', 'Transfer-Encoding: chunkedx', 'Transfer-Encoding: x-chunked', 'Transfer-Encoding: chunk', 'Transfer-Encoding: "chunked"', "Transfer-Encoding: 'chunked'",
  'Transfer-Encoding: chunked;q=1', 'Transfer-Encoding: chunked foo', 'Transfer-Encoding: \x0bchunked', 'Transfer-Encoding: chunked\x0b', 'Transfer-Encoding: \x0cchunked', 'Transfer-Encoding: \0chunked',
  'Transfer-Encoding: ch\tunked', 'Transfer-Encoding: identity', 'Transfer-Encoding: gzip', 'Transfer-Encoding:', 'Transfer-Encoding: ,', 'Transfer-Encoding: \x85chunked',
  'Transfer-Encoding : chunked', 'Transfer-Encoding\t: chunked', 'Transfer-Encoding \t: chunked', ' Transfer-Encoding: chunked', '\tTransfer-Encoding: chunked', 'X: y\r\n Transfer-Encoding: chunked',
  'Transfer-Encoding:\r\n chunked', 'Transfer-Encoding: chunked\r\n x', 'X: y\nTransfer-Encoding: chunked', 'X: y\rTransfer-Encoding: chunked', 'X: y\r\r\nTransfer-Encoding: chunked', 'X: y\n\rTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\nContent-Length: 5', '\x00Transfer-Encoding: chunked', 'Transfer\0-Encoding: chunked', 'Transfer Encoding: chunked', 'Transfer-Encoding= chunked', ': chunked', 'Transfer-Encoding', '(x): chunked',
  'Content-Length: 5\r\nContent-Length: 5', 'Content-Length: 5\r\nContent-Length: 6', 'Content-Length: 5\r\ncontent-length: 0', 'Content-Length: 5, 5', 'Content-Length: 5,6', 'Content-Length: 5,',
  'Content-Length: +5', 'Content-Length: -5', 'Content-Length: -0', 'Content-Length: 0x5', 'Content-Length: 5.0', 'Content-Length: 5e0', 'Content-Length: 5 5', 'Content-Length: 5;', 'Content-Length: "5"', 'Content-Length: five',
  'Content-Length:', 'Content-Length: \xb2', 'Content-Length: 99999999999999999999', 'Content-Length: 5\0', 'Content-Length: \x0b5', 'Content-Length : 5', 'Content-Length\t: 5', ' Content-Length: 5', 'Content-Length:\r\n 5', 'Content-Length: 5\r\n 6',
  'Content-Length: 05', 'Content-Length: 00', 'Content-Length: 0005', 'Transfer-Encoding: chunked,', 'Transfer-Encoding: ,chunked', 'Transfer-Encoding: chunked, ,', 'Transfer-Encoding: chunked\r\nTransfer-Encoding:',
  'X: y\nContent-Length: 5', 'X: y\rContent-Length: 5', 'X: y\0Content-Length: 5',
];

/** Whole requests whose head is none. */
export const heads = [
  'GET  / HTTP/1.1\r\nHost: example.test', 'GET /  HTTP/1.1\r\nHost: example.test', 'GET\t/ HTTP/1.1\r\nHost: example.test', 'GET /\tHTTP/1.1\r\nHost: example.test', ' GET / HTTP/1.1\r\nHost: example.test',
  'GET / HTTP/1.1 \r\nHost: example.test', 'GET / http/1.1\r\nHost: example.test', 'GET / HTTP/1.1x\r\nHost: example.test', 'GET / HTTP/11\r\nHost: example.test', 'GET / HTTP/1.\r\nHost: example.test',
  'GET /\r\nHost: example.test', 'GET HTTP/1.1\r\nHost: example.test', '/ HTTP/1.1\r\nHost: example.test', 'G(T / HTTP/1.1\r\nHost: example.test', 'GET / x HTTP/1.1\r\nHost: example.test', 'GET /\0 HTTP/1.1\r\nHost: example.test',
  'GET /\x7f HTTP/1.1\r\nHost: example.test\x7f', 'GET / HTTP/1.1\nHost: example.test', 'GET / HTTP/1.1\rHost: example.test', 'GET / HTTP/1.1\r\nHost: example.test\r\nHost: example.test', 'GET / HTTP/1.1\r\nHost: example.test\r\nhost: other.test',
  'GET / HTTP/1.1\r\nX: 1', 'GET / HTTP/1.1\r\nHost : example.test', 'GET / HTTP/1.1\r\nHost: example.test\r\n Host: other.test', 'GET example.test/ HTTP/1.1\r\nHost: example.test', 'GET ftp://example.test/ HTTP/1.1\r\nHost: example.test',
  'GET http://user@example.test/ HTTP/1.1\r\nHost: example.test', 'GET * HTTP/1.1\r\nHost: example.test', 'GET / HTTP/1.1\r\nHost: example.test\r\nX\x01: 1', 'GET / HTTP/1.1\r\nHost: example.test\r\nX: \x01', 'GET / HTTP/1.1\r\nHost: example.test\r\n: empty',
  'GET / HTTP/1.1\r\nHost: example.test\r\nno colon', 'GET / HTTP/1.1\r\nHost: example.test\r\nX : 1',
];

/** Chunked bodies that two readers could read in two ways. */
export const chunks = [
  '0x5\r\nhello\r\n', '+5\r\nhello\r\n', '-5\r\nhello\r\n', ' 5\r\nhello\r\n', '5 \r\nhello\r\n', '5\nhello\r\n', '5\rhello\r\n', '5\r\r\nhello\r\n', '5\r\nhello', '5\r\nhello\n', '5\r\nhello\r', '5\r\nhelloX\r\n', '5\r\nhell\r\n', 'g\r\nhello\r\n',
  '\r\nhello\r\n', '5;a\nb\r\nhello\r\n', '5;a\rb\r\nhello\r\n', '5;\0\r\nhello\r\n', 'FFFFFFFFFFFFFFFF5\r\nhello\r\n', '5\t\r\nhello\r\n', '5 ;x\r\nhello\r\n', '5\r\nhello\r\n0\r\n\n', '0\r\nX : 1\r\n\r\n', '0\r\n X: 1\r\n\r\n', '0\r\nX\r\n\r\n', '0\r\nX: \0\r\n\r\n', '0\n\r\n', '00x\r\n\r\n',
];

/** Chunked bodies that are in order, however strange they look: each is one body. */
export const soundChunks = [
  '5;GET /smuggled HTTP/1.1\r\nhello\r\n0\r\n\r\n', '5;a=b;c="x;y"\r\nhello\r\n0;x\r\n\r\n', '005\r\nhello\r\n00\r\n\r\n', '5\r\nhello\r\n0\r\nContent-Length: 100\r\n\r\n',
  '5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\nHost: other.test\r\n\r\n', '9\r\n0\r\n\r\nGET \r\n0\r\n\r\n', '5;\x80=\xff\r\nhello\r\n0\r\n\r\n',
];
