import { brotliCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { Frame, FrameReader, ProtocolError } from '../../../src/wire/frames.ts';
import { encodeOpen } from '../../../src/wire/open.ts';
import { anyCharacter } from '../any-character.ts';
import { noise } from './fuzz.ts';

const u32 = (value: number): Buffer => {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value >>> 0);
  return out;
};

function frame(type: number, stream: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.of(type), u32(stream), u32(payload.length), payload]);
}

/** Few, so that frames meet; of both sides. */
const stream = fc.constantFrom(1, 2, 2, 2, 4, 4, 6, 0, 0xffff_fffe);
const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.constantFrom('', 'bye', 'drain', 'direct', 'hello', '127.0.0.1:80', 'a'.repeat(70), '__proto__'),
);

/** JSON like that of the wire: the words that its schemas know, with all kinds of values. */
export const json: fc.Arbitrary<Buffer> = fc.dictionary(
  fc.constantFrom(
    'type',
    'kind',
    'code',
    'text',
    'targets',
    'target',
    'timeoutMs',
    'on',
    'tunnelId',
    'inlet',
    'exported',
    'sessionId',
    'heartbeatMs',
    'compress',
    'clientId',
    'version',
    'localAddress',
    'nonce',
    'ways',
    'streamId',
    'stunPorts',
    'candidates',
    'path',
    'stripPrefix',
    'password',
    'online',
    'agentOnline',
    'retryAfterMs',
    'tls',
    'port',
    'mode',
    'serverIp',
    'localPath',
    'proxyProtocol',
    'remark',
    'host',
    'scheme',
    '__proto__',
  ),
  fc.oneof(
    text,
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(text, { maxLength: 3 }),
    fc.constantFrom<unknown>(
      'bye',
      'compress',
      'drain',
      'targets',
      'traffic',
      'hello',
      'candidates',
      'agent',
      'path',
      'tcp',
      'udp',
      'dial',
      'probe',
      'file',
      'udpAny',
      'secret',
      'p2p',
      'relay',
      'ab'.repeat(16),
      'ab'.repeat(32),
      ['udp'],
      ['tcp', 'udp'],
      ['127.0.0.1:80'],
      [{ host: '192.0.2.1', port: 1 }],
      { port: 1, fingerprint: 'ab'.repeat(32) },
      5000,
      1,
      0,
    ),
  ),
  { maxKeys: 9 },
).map((value) => Buffer.from(JSON.stringify(value)));

const one = fc.oneof(
  fc.tuple(stream, noise).map(([id, payload]) => frame(Frame.DATA, id, payload.length === 0 ? Buffer.of(0) : payload)),
  fc.tuple(stream, noise).map(([id, payload]) => frame(Frame.PACKED, id, brotliCompressSync(payload))),
  stream.map((id) => frame(Frame.OPEN, id, encodeOpen({ kind: 'tcp', targets: ['127.0.0.1:80'] }))),
  fc.tuple(stream, fc.constantFrom<number>(Frame.FIN, Frame.RST)).map(([id, type]) => frame(type, id, Buffer.alloc(0))),
  fc.tuple(stream, fc.constantFrom<number>(Frame.WINDOW, Frame.MOVE), fc.constantFrom(0, 1, 2, 3, 1024 * 1024, 0xffff_ffff)).map(([id, type, value]) =>
    frame(type, id, u32(value))
  ),
  fc.constant(frame(Frame.PING, 0, Buffer.alloc(0))),
  json.map((message) => frame(Frame.CONTROL, 0, message)),
);

/** A few frames in a row: most of them on the peer's streams. */
export const frames: fc.Arbitrary<Buffer> = fc.array(one, { maxLength: 8 }).map((all) => Buffer.concat(all));

/** What a reader makes of a mux connection: pieces of DATA put together, and how it ended. */
export function outcomesOf(pieces: readonly Buffer[]): unknown {
  const seen: string[] = [];
  let data: [number, string] | undefined;
  const flush = (): void => {
    if (data) seen.push(`data ${data[0]} ${data[1]}`);
    data = undefined;
  };
  const reader = new FrameReader({
    onDataFrame: (id, piece) => {
      if (data?.[0] !== id) flush();
      data = [id, (data?.[1] ?? '') + piece.toString('hex')];
    },
    onFrame: (type, id, payload) => {
      flush();
      seen.push(`${type} ${id} ${payload.toString('hex')}`);
    },
  });
  try {
    for (const piece of pieces) reader.push(piece);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    flush();
    return { seen, broken: error.message };
  }
  flush();
  return { seen };
}
