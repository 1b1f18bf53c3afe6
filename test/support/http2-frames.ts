import { once } from 'node:events';
import tls from 'node:tls';

/** A field of a request as it goes over the wire: any bytes. */
export type RawField = readonly [name: string, value: string];

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const END_STREAM = 1;
const END_HEADERS = 4;
const ACK = 1;
/** After so many ms no answer will come any more. Until then there are pings: Node sends a reset along with the next thing it has to say. */
const TIMEOUT_MS = 5000;

function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** HPACK without any of its tables: every name and value as it is. */
function block(fields: readonly RawField[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return bytes.length < 127 ? Buffer.concat([Buffer.from([bytes.length]), bytes]) : Buffer.concat([Buffer.from([127, (bytes.length - 127) & 127]), bytes]);
}

/** Frames that a visitor can send without end. A stream's number is odd, and each is larger than the one before. */
export const frames = {
  ping: (): Buffer => frame(PING, 0, 0, Buffer.alloc(8)),
  settings: (): Buffer => frame(SETTINGS, 0, 0),
  request: (stream: number, fields: readonly RawField[]): Buffer => frame(HEADERS, END_STREAM | END_HEADERS, stream, block(fields)),
  /** A request whose body is still to come. */
  begun: (stream: number, fields: readonly RawField[]): Buffer => frame(HEADERS, END_HEADERS, stream, block(fields)),
  /** A piece of a body, not the last one. */
  data: (stream: number, piece: string): Buffer => frame(DATA, 0, stream, Buffer.from(piece, 'latin1')),
  /** @param stream 0 = the whole session */
  window: (stream: number, bytes: number): Buffer => {
    const more = Buffer.alloc(4);
    more.writeUInt32BE(bytes);
    return frame(WINDOW_UPDATE, 0, stream, more);
  },
  /** @param code why; 8 = it is no longer wanted */
  reset: (stream: number, code = 8): Buffer => frame(RST_STREAM, 0, stream, Buffer.from([0, 0, 0, code])),
} as const;

/** A visitor who has said that he speaks HTTP/2, and reads nothing. */
export async function silentHttp2(port: number, servername: string): Promise<tls.TLSSocket> {
  const socket = tls.connect({ port, host: '127.0.0.1', servername, ALPNProtocols: ['h2'], rejectUnauthorized: false });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  socket.pause().write(Buffer.concat([Buffer.from(PREFACE), frame(SETTINGS, 0, 0)]));
  return socket;
}

/** Writes as fast as the peer takes it, until the connection is closed or `most` was written. @returns how often it wrote */
export async function flood(socket: tls.TLSSocket, make: (index: number) => Buffer, most = Number.POSITIVE_INFINITY): Promise<number> {
  let written = 0;
  while (written < most && !socket.destroyed) {
    if (socket.write(make(written++))) continue;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        socket.off('drain', go).off('close', go);
        resolve();
      };
      socket.on('drain', go).on('close', go);
    });
  }
  return written;
}

/** How a server took one request: an answer, or that it ended the stream or the session. */
export type Http2Answer = 'answer' | 'reset' | 'goaway' | 'closed' | 'silence';

/** Sends one request over HTTP/2 that a client library would refuse to make. */
export async function sendHttp2(port: number, servername: string, fields: readonly RawField[], body?: string): Promise<Http2Answer> {
  const socket = tls.connect({ port, host: '127.0.0.1', servername, ALPNProtocols: ['h2'], rejectUnauthorized: false });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  socket.write(Buffer.concat([
    Buffer.from(PREFACE),
    frame(SETTINGS, 0, 0),
    frame(HEADERS, body === undefined ? END_STREAM | END_HEADERS : END_HEADERS, 1, block(fields)),
    ...(body === undefined ? [] : [frame(DATA, END_STREAM, 1, Buffer.from(body, 'latin1'))]),
    frame(PING, 0, 0, Buffer.alloc(8)),
  ]));
  const until = performance.now() + TIMEOUT_MS;
  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, Buffer.from(chunk)]);
    while (received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3)) {
      const [type, flags, stream] = [received[3], received[4] ?? 0, received.readUInt32BE(5)];
      received = received.subarray(9 + received.readUIntBE(0, 3));
      const over = performance.now() > until;
      if (type === PING && !over) socket.write(frame(PING, 0, 0, Buffer.alloc(8)));
      const answer = type === GOAWAY
        ? 'goaway'
        : stream === 1 && type === RST_STREAM
        ? 'reset'
        : stream === 1 && type === HEADERS
        ? 'answer'
        : over
        ? 'silence'
        : undefined;
      if (answer) {
        socket.destroy();
        return answer;
      }
      if (type === SETTINGS && (flags & ACK) === 0) socket.write(frame(SETTINGS, ACK, 0));
    }
  }
  return 'closed';
}
