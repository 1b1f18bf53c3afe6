import { createHash, createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Batch } from '../../src/wire/batch.ts';
import { DatagramBudget, DatagramSocket } from '../../src/wire/datagram-socket.ts';
import { decodeDialResult, dialFailure, type DialResult, encodeDialResult } from '../../src/wire/dial-result.ts';
import { Frame, FrameReader } from '../../src/wire/frames.ts';
import { acceptHandshake, keyIdLettersOf, keyIdOf, type Offer, refuseUnread, type Role } from '../../src/wire/handshake.ts';
import { isKeyProof, keyProof } from '../../src/wire/key-proof.ts';
import { encodeNodeRequest } from '../../src/wire/node-messages.ts';
import { readSocksAddress, socksAddress } from '../../src/wire/socks-address.ts';
import { stunMapped, stunRequest, stunResponse } from '../../src/wire/stun.ts';
import { encodeVisitorRequest } from '../../src/wire/visitor-request.ts';
import { EmptySocket } from '../support/empty-socket.ts';

/*
 * The bytes on the wire. A mistake that both sides make alike is none in a test of both, but one for a peer of another version.
 */

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const u16 = (value: number): Buffer => Buffer.of(value >> 8, value & 0xff);
const withLength = (value: object): Buffer => {
  const json = Buffer.from(JSON.stringify(value));
  return Buffer.concat([u16(json.length), json]);
};

test('frames', () => {
  const batch = new Batch();
  batch.frame(Frame.OPEN, 0x0102_0304, Buffer.from('a'));
  batch.frame(Frame.DATA, 2, Buffer.from('bc'));
  batch.frame(Frame.FIN, 2);
  batch.frame(Frame.RST, 2);
  batch.frameU32(Frame.WINDOW, 2, 0x0a0b_0c0d);
  batch.frameU32(Frame.MOVE, 2, 7);
  batch.frame(Frame.PING, 0);
  batch.frame(Frame.CONTROL, 0, Buffer.from('{}'));
  batch.frame(Frame.PACKED, 2, Buffer.from('d'));
  const written = [
    '01 01020304 00000001 61',
    '02 00000002 00000002 6263',
    '03 00000002 00000000',
    '04 00000002 00000000',
    '05 00000002 00000004 0a0b0c0d',
    '06 00000002 00000004 00000007',
    '07 00000000 00000000',
    '08 00000000 00000002 7b7d',
    '82 00000002 00000001 64',
  ];
  expect(batch.size).toBe(hex(written.join('')).length);
  batch.drainTo((bytes) => expect(bytes.toString('hex')).toBe(hex(written.join('')).toString('hex')));
});

test('the longest payload of each frame, in bytes', () => {
  const longest = (type: number, stream: number) => {
    const fits = (length: number): boolean => {
      const head = Buffer.alloc(9);
      head[0] = type;
      head.writeUInt32BE(stream, 1);
      head.writeUInt32BE(length, 5);
      try {
        new FrameReader({ onDataFrame: () => undefined, onFrame: () => undefined }).push(head);
        return true;
      } catch {
        return false;
      }
    };
    return [0, 1, 3, 4, 5, 65_536, 65_537].filter((length) => fits(length));
  };
  expect([1, 2, 3, 4, 5, 6, 7, 8, 0x82].map((type) => longest(type, type === 7 || type === 8 ? 0 : 1))).toEqual([
    [0, 1, 3, 4, 5, 65_536],
    [1, 3, 4, 5, 65_536],
    [0],
    [0],
    [4],
    [4],
    [0],
    [0, 1, 3, 4, 5, 65_536],
    [1, 3, 4, 5, 65_536],
  ]);
});

test('the ids of keys', () => {
  const digest = createHash('sha256').update('adit key id\0the key').digest();
  expect(keyIdOf('the key')).toBe(digest.toString('hex', 0, 16));
  expect(keyIdLettersOf('the key', 3)).toBe(digest.toString('latin1', 0, 3));
});

/** A connection over which a peer speaks, with the secret of its TLS or without TLS. */
class Connection extends EmptySocket {
  readonly channelSecret?: () => Buffer;

  constructor(secret?: Buffer) {
    super();
    if (secret) this.channelSecret = () => secret;
  }

  override unread(): void {
    throw new Error('nothing follows the handshake');
  }

  /** What the server wrote since the last call. */
  written(): Buffer {
    const bytes = hex(this.received);
    this.received = '';
    return bytes;
  }
}

const KEY = 'the key of the peer';
const ID = keyIdOf(KEY);

/** The handshake of a peer that was written by its description alone. */
async function shake(role: number, secret?: Buffer, key = KEY, info = withLength({ version: '1' })) {
  const connection = new Connection(secret);
  const asked: unknown[] = [];
  const keyOf = (...of: readonly [Role, string]): string => {
    asked.push(of);
    return KEY;
  };
  const offered = acceptHandshake(connection, { timeoutMs: 100_000, keyOf });
  const hello = Buffer.concat([Buffer.from('ADIT'), Buffer.of(1, role), hex(ID), Buffer.alloc(32, 7), hex('01020304')]);
  connection.sink?.onData(hello);
  await new Promise(setImmediate);
  const challenge = connection.written();
  expect([challenge.length, challenge.toString('latin1', 0, 5)]).toEqual([37, 'ADIT\x01']);
  const mac = (purpose: string, ...parts: Buffer[]) =>
    createHmac('sha256', key).update(Buffer.concat([Buffer.from(purpose), hello, challenge, secret ?? Buffer.alloc(0), ...parts])).digest();
  connection.sink?.onData(Buffer.concat([mac('agent', info), info]));
  return { offer: await offered, connection, mac, asked };
}

test.each<[number, Role, string]>([[0, 'mux', ''], [1, 'data', ''], [2, 'visit', 'secret'], [3, 'node', 'secret'], [4, 'standby', '']])(
  'the handshake for role %i',
  async (number, role, secret) => {
    const { offer, connection, mac, asked } = await shake(number, secret === '' ? undefined : Buffer.from(secret));
    expect(asked).toEqual([[role, ID]]);
    expect(offer).toMatchObject({ role, keyId: ID, proven: true, info: { version: '1' }, connection: 0x0102_0304 } satisfies Partial<Offer>);
    const body = { welcome: 'x' };
    const sessionKey = offer.accept(body);
    expect(connection.written()).toEqual(Buffer.concat([Buffer.of(1), mac('server', withLength(body)), withLength(body)]));
    expect(sessionKey).toEqual(mac('session'));
  },
);

test('messages of a handshake have 4096 bytes at most', async () => {
  const sized = (bytes: number) => ({ text: 'x'.repeat(bytes - 11) });
  const { offer, connection } = await shake(0, undefined, KEY, withLength(sized(4096)));
  expect(offer.info).toEqual(sized(4096));
  expect(() => offer.accept(sized(4097))).toThrow(expect.objectContaining({ code: 'garbage' }));
  expect(connection.written()).toEqual(Buffer.alloc(0));
  offer.accept(sized(4096));
  expect(connection.written().length).toBe(1 + 32 + 2 + 4096);
  await expect(shake(0, undefined, KEY, withLength(sized(4097)))).rejects.toMatchObject({ code: 'garbage' });
});

test('a role that this version does not know is refused', async () => {
  const connection = new Connection();
  const offered = acceptHandshake(connection, { timeoutMs: 100_000, keyOf: () => KEY });
  connection.sink?.onData(Buffer.concat([Buffer.from('ADIT'), Buffer.of(1, 5), hex(ID), Buffer.alloc(36)]));
  await expect(offered).rejects.toMatchObject({ code: 'garbage' });
  expect(connection.written()).toEqual(Buffer.alloc(0));
  connection.destroy();
});

test('refusals, to a peer that has proven its key, to another one, and to one that was not read', async () => {
  const refusal = { code: 'x', text: 'why' };
  const proven = await shake(0);
  proven.offer.refuse(refusal);
  expect(proven.connection.written()).toEqual(Buffer.concat([Buffer.of(2), proven.mac('refusal', withLength(refusal)), withLength(refusal)]));
  const unknown = await shake(0, undefined, 'another key');
  expect(unknown.offer.proven).toBe(false);
  unknown.offer.refuse(refusal);
  expect(unknown.connection.written()).toEqual(Buffer.concat([Buffer.of(0), withLength(refusal)]));
  const unread = new Connection();
  let closed = 0;
  refuseUnread(unread, refusal, () => closed++);
  const written = unread.written();
  expect(written.subarray(0, 5)).toEqual(Buffer.from('ADIT\x01'));
  expect(written.subarray(37)).toEqual(Buffer.concat([Buffer.of(0), withLength(refusal)]));
  for (const connection of [proven.connection, unknown.connection, unread]) {
    expect([connection.ended, closed]).toEqual([true, 0]);
    connection.destroy();
  }
  expect(closed).toBe(1);
});

test('the proof that a node has another key', () => {
  const connection = new Connection(Buffer.from('the secret'));
  for (const side of ['dialer', 'acceptor'] as const) {
    const proof = createHmac('sha256', 'key').update(`adit key of ${side}the secret`).digest();
    expect(keyProof(connection, 'key', side)).toEqual(proof);
    const sides = ['dialer', 'acceptor'] as const;
    expect(sides.filter((other) => isKeyProof(connection, 'key', other, proof.toString('base64')))).toEqual([side]);
    expect(isKeyProof(connection, 'another key', side, proof.toString('base64'))).toBe(false);
    expect(isKeyProof(connection, 'key', side, proof.toString('base64', 1))).toBe(false);
  }
  expect(keyProof(new Connection(), 'key', 'dialer')).toBeUndefined();
});

test('the results of a dial, by the error of the system', () => {
  const bytes: DialResult[] = [
    'connected',
    'refused',
    'host-unreachable',
    'network-unreachable',
    'timeout',
    'unknown-name',
    'forbidden',
    'failed',
    'exhausted',
    'crowded',
    'offline',
  ];
  expect(bytes.map((result) => encodeDialResult(result))).toEqual(bytes.map((_, byte) => Buffer.of(byte)));
  expect([...bytes.keys(), 11, 255, undefined].map((byte) => decodeDialResult(byte))).toEqual([...bytes, 'failed', 'failed', 'failed']);
  const causes: ReadonlyArray<readonly [DialResult, string]> = [
    ['refused', 'ECONNREFUSED'],
    ['host-unreachable', 'EHOSTUNREACH EHOSTDOWN'],
    ['network-unreachable', 'ENETUNREACH ENETDOWN EADDRNOTAVAIL EAFNOSUPPORT'],
    ['timeout', 'ETIMEDOUT'],
    ['unknown-name', 'ENOTFOUND ENODATA EAI_AGAIN'],
    ['forbidden', 'EACCES EPERM'],
    ['failed', 'EMFILE'],
  ];
  for (const [result, codes] of causes) {
    for (const code of codes.split(' ')) expect([code, dialFailure(Object.assign(new Error(code), { code }))]).toEqual([code, result]);
  }
});

test('addresses as SOCKS5 writes them', () => {
  expect(socksAddress('127.0.0.1', 0x1234)).toEqual(hex('01 7f000001 1234'));
  expect(socksAddress('::ffff:10.0.0.1', 1)).toEqual(hex('01 0a000001 0001'));
  expect(socksAddress('2001:db8::1', 65_535)).toEqual(hex('04 20010db8000000000000000000000001 ffff'));
  const read = (text: string, at = 1) => readSocksAddress(hex(text), at);
  expect(read('ff 01 7f000001 1234 aa')).toEqual({ host: '127.0.0.1', port: 0x1234, numeric: true, end: 8 });
  expect(read('ff 04 20010db8000000000000000000000001 ffff')).toEqual({ host: '2001:db8::1', port: 65_535, numeric: true, end: 20 });
  expect(read('ff 03 03 612e62 0050 aa')).toEqual({ host: 'a.b', port: 80, numeric: false, end: 8 });
  for (const text of ['ff', 'ff 01 7f000001 12', 'ff 03', 'ff 03 00 0050', 'ff 03 03 612e62 00', 'ff 02 7f000001 1234']) expect(read(text)).toBeUndefined();
});

test('datagrams', async () => {
  const [sent, received]: [Buffer[], string[]] = [[], []];
  const socket = new DatagramSocket({
    remoteAddress: '',
    remotePort: 0,
    budget: new DatagramBudget(),
    onDatagram: (bytes) => received.push(String(bytes)),
    onPeerDropped: (count) => received.push(`${count} dropped`),
    onClose: () => undefined,
  });
  socket.attach({ onData: (bytes) => sent.push(bytes), onEnd: () => undefined, onDrain: () => undefined, onClose: () => undefined });
  expect([Buffer.from('abc'), Buffer.alloc(0), Buffer.alloc(65_535)].map((datagram) => socket.send(datagram))).toEqual([true, true, false]);
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  expect(Buffer.concat(sent)).toEqual(hex('0003 616263 0000 ffff 00000001'));
  socket.write(hex('0002 6465 ffff 01000002 0001 66'));
  expect(received).toEqual(['de', '16777218 dropped', 'f']);
});

test('STUN (RFC 8489), with the address of RFC 5769, 2.2 and 2.3', () => {
  const own = stunRequest();
  expect(own).toEqual(Buffer.concat([hex('0001 0018 2112a442'), own.subarray(8, 20), hex('0026 0014'), Buffer.alloc(20)]));
  const next = stunRequest();
  for (const at of [8, 12, 16]) expect(own.subarray(at, at + 4)).not.toEqual(next.subarray(at, at + 4));
  const id = hex('b7e7a701bc34d686fa87dfae');
  const request = Buffer.concat([own.subarray(0, 8), id, own.subarray(20)]);
  const ipv4 = Buffer.concat([hex('0101 000c 2112a442'), id, hex('0020 0008 0001 a147 e112a643')]);
  const ipv6 = Buffer.concat([hex('0101 0018 2112a442'), id, hex('0020 0014 0002 a147 0113a9faa5d3f179bc25f4b5bed2b9d9')]);
  for (const [host, response] of [['192.0.2.1', ipv4], ['2001:db8:1234:5678:11:2233:4455:6677', ipv6]] as const) {
    expect(stunResponse(request, { host, port: 32_853 })).toEqual(response);
    expect(stunMapped(response, request)).toEqual({ host, port: 32_853 });
  }
  // The answer is never longer than the request, whatever length that says it has.
  const short = request.subarray(0, request.length - 1);
  expect(stunResponse(Buffer.concat([short.subarray(0, 2), u16(short.length - 20), short.subarray(4)]), { host: '192.0.2.1', port: 1 })).toBeUndefined();
  // Of each field that is checked, another value.
  const changed = (message: Buffer, at: number): Buffer => Buffer.from(message.map((byte, index) => index === at ? byte ^ 1 : byte));
  expect([1, 3, 7].map((at) => stunResponse(changed(request, at), { host: '192.0.2.1', port: 1 }))).toEqual([undefined, undefined, undefined]);
  expect([1, 5, 8, 19, 21, 23].map((at) => stunMapped(changed(ipv4, at), request))).toEqual(Array.from({ length: 6 }, () => undefined));
});

test('requests of nodes', () => {
  const rest = Buffer.from('rest');
  expect(encodeNodeRequest({ kind: 'traffic' }, rest)).toEqual(Buffer.concat([withLength({ kind: 'traffic' }), rest]));
  const visitor = { kind: 'visitor', clientId: 1, of: 'tunnel', id: 2, address: 'ab', port: 0x1234, dataFollows: false, passedOn: false } as const;
  expect(encodeVisitorRequest(visitor, rest)).toEqual(hex('0000 00 00000001 00000002 1234 0000 00000000 02 00 6162 72657374'));
  expect(encodeVisitorRequest({ ...visitor, of: 'host', local: { address: 'cde', port: 0x5678 }, credit: 0x1_0000 }, rest))
    .toEqual(hex('0000 09 00000001 00000002 1234 5678 00010000 02 03 6162 636465 72657374'));
  expect(encodeVisitorRequest({ ...visitor, dataFollows: true }, rest)[2]).toBe(2);
  expect(encodeVisitorRequest({ ...visitor, passedOn: true }, rest)[2]).toBe(4);
});
