import { Duplex } from 'node:stream';
import type UDX from 'udx-native';
import type { UdxSocket } from 'udx-native';
import type { Endpoint } from '../../wire/stun.ts';

/** As for TCP sockets: the mux relies on writing this much at once. */
const HIGH_WATER = 64 * 1024;
let lastStreamId = 0;

let loading: Promise<UDX | undefined> | undefined;

/** UDX, a reliable stream over UDP. Native code, so an optional package; undefined = it does not run on this machine. */
export function loadUdx(): Promise<UDX | undefined> {
  loading ??= import('udx-native').then(({ default: Udx }) => new Udx(), () => undefined);
  return loading;
}

/** A stream id, by which this process distinguishes its streams' packets. */
export function newStreamId(): number {
  lastStreamId = (lastStreamId % 0x7fff_ffff) + 1;
  return lastStreamId;
}

/** The two numbers of a stream: ours, and the peer's. */
export interface StreamIds {
  readonly ours: number;
  readonly theirs: number;
}

/** Creates a stream to a peer over a socket whose hole is punched. */
export function udxDuplex(udx: UDX, socket: UdxSocket, ids: StreamIds, peer: Endpoint): Duplex {
  const stream = udx.createStream(ids.ours);
  stream.connect(socket, ids.theirs, peer.port, peer.host);
  const duplex = new Duplex({
    writableHighWaterMark: HIGH_WATER,
    readableHighWaterMark: HIGH_WATER,
    read() {
      stream.resume();
    },
    write(chunk: Buffer, _encoding, done) {
      if (stream.write(chunk)) done();
      else stream.once('drain', () => done());
    },
    final(done) {
      stream.end();
      done();
    },
    destroy(error, done) {
      stream.destroy();
      done(error);
    },
  });
  stream.on('data', (chunk: Buffer) => {
    if (!duplex.push(chunk)) stream.pause();
  });
  stream.on('end', () => duplex.push(null));
  stream.on('error', (error: Error) => duplex.destroy(error));
  stream.on('close', () => duplex.destroy());
  return duplex;
}
