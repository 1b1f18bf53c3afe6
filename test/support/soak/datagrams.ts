import dgram from 'node:dgram';
import { once } from 'node:events';
import { SocksClient } from 'socks';
import { parseTarget } from '../../../src/rules/targets.ts';
import { payload } from '../payload.ts';
import { connect } from './streams.ts';
import { type Traffic, WrongBytes } from './transfer.ts';

/** The longest wait for the answer to a datagram, in ms. */
const PATIENCE_MS = 5000;
const COUNT = 4;
const LARGEST = 8000;

/** Datagrams to a udp tunnel whose target sends each back. */
export function datagrams(port: number): Traffic {
  return { name: 'udp', run: (bytes, seed) => withSocket((socket) => askAll(socket, port, bytes, seed, (datagram) => datagram, (datagram) => datagram)) };
}

/** UDP ASSOCIATE of SOCKS5: the association lives as long as its connection. */
export function socksDatagrams(port: number, target: string): Traffic {
  const remoteHost = parseTarget(target) ?? { host: '', port: 0 };
  const wrap = (data: Buffer): Buffer => SocksClient.createUDPFrame({ remoteHost, data });
  const unwrap = (frame: Buffer): Buffer => SocksClient.parseUDPFrame(frame).data;
  return {
    name: 'socks5 UDP',
    run: async (bytes, seed) => {
      const control = await connect(port);
      try {
        const client = new SocksClient({ proxy: { host: '127.0.0.1', port, type: 5 }, command: 'associate', destination: { host: '0.0.0.0', port: 0 }, timeout: PATIENCE_MS });
        const established = new Promise<number>((resolve, reject) => {
          client.once('established', (info) => resolve(info.remoteHost?.port ?? 0)).once('error', reject);
        });
        client.connect(control);
        const relay = await established;
        await withSocket((socket) => askAll(socket, relay, bytes, seed, wrap, unwrap));
      } finally {
        control.destroy();
      }
    },
  };
}

async function withSocket(work: (socket: dgram.Socket) => Promise<void>): Promise<void> {
  const socket = dgram.createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  try {
    await work(socket);
  } finally {
    socket.close();
  }
}

async function askAll(socket: dgram.Socket, port: number, bytes: number, seed: number, wrap: (data: Buffer) => Buffer, unwrap: (frame: Buffer) => Buffer): Promise<void> {
  for (let i = 0; i < COUNT; i++) {
    const datagram = Buffer.concat([...payload(Math.min(bytes, LARGEST), seed + i)]);
    const answered = once(socket, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) });
    socket.send(wrap(datagram), port, '127.0.0.1');
    const [answer]: unknown[] = await answered;
    if (!Buffer.isBuffer(answer) || !unwrap(answer).equals(datagram)) throw new WrongBytes('another datagram than was sent');
  }
}
