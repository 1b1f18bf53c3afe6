import { expect, test } from '@jest/globals';
import { decodeNodeRequest, encodeNodeRequest, type NodeRequest } from '../../src/wire/node-messages.ts';
import { encodeVisitorRequest } from '../../src/wire/visitor-request.ts';

const rest = Buffer.from('what follows');
const plain: NodeRequest<'visitor'> = {
  kind: 'visitor',
  clientId: 7,
  of: 'tunnel',
  id: 9,
  address: '192.0.2.1',
  port: 40_000,
  dataFollows: false,
  passedOn: false,
};
const full: NodeRequest<'visitor'> = {
  kind: 'visitor',
  clientId: 4_000_000_000,
  of: 'host',
  id: 3_000_000_000,
  address: '2001:db8::1',
  port: 65_535,
  local: { address: '2001:db8::2', port: 443 },
  dataFollows: true,
  passedOn: true,
  credit: 128 * 1024,
};

test.each([plain, full])('the short form of a request says the same as the one in JSON', (request) => {
  const decoded = decodeNodeRequest(encodeVisitorRequest(request, rest));
  expect(decoded).toEqual({ request, rest });
  expect(decoded).toEqual(decodeNodeRequest(encodeNodeRequest(request, rest)));
});

test('what is not such a request is none', () => {
  const whole = encodeVisitorRequest(full, Buffer.alloc(0));
  for (let length = 0; length < whole.length; length++) expect(decodeNodeRequest(whole.subarray(0, length))).toBeUndefined();
  const changed = (at: number, ...bytes: number[]): Buffer => {
    const payload = Buffer.concat([whole, Buffer.alloc(256)]);
    payload.set(bytes, at);
    return payload;
  };
  expect(decodeNodeRequest(changed(2, 16))).toBeUndefined();
  expect(decodeNodeRequest(changed(15, 0, 0, 0, 1))).toBeUndefined();
  expect(decodeNodeRequest(changed(15, 0, 0x10, 0, 1))).toBeUndefined();
  expect(decodeNodeRequest(changed(19, 65))).toBeUndefined();
  expect(decodeNodeRequest(changed(20, 65))).toBeUndefined();
});

test.each([16 * 1024, 1024 * 1024])('the shortest and the largest credit (%i), and the longest addresses, are read', (credit) => {
  const request = { ...full, credit, address: 'a'.repeat(64), local: { address: 'b'.repeat(64), port: 1 } };
  expect(decodeNodeRequest(encodeVisitorRequest(request, rest))).toEqual({ request, rest });
  expect(decodeNodeRequest(encodeVisitorRequest({ ...request, credit: credit === 16 * 1024 ? credit - 1 : credit + 1 }, rest))).toBeUndefined();
});
