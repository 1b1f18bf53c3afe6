import dgram from 'node:dgram';
import { once } from 'node:events';
import { SocksClient } from 'socks';
import { parseTarget } from '../../../src/rules/targets.ts';
import { payload } from '../payload.ts';
import { connect } from './streams.ts';
import { type Traffic, WrongBytes } from './transfer.ts';

/** The longest wait for an answer, in ms. */
const TIMEOUT_MS = 5000;
/** Datagrams may get lost, as anywhere: one that is not answered within so many ms is sent again, so many times in all. */
const AGAIN = { ms: 2000, times: 5 } as const;
const COUNT = 4;
const LARGEST = 8000;

/** Datagrams to a udp tunnel whose target sends each back. */
export function datagrams(port: number, host?: string): Traffic {
  return {
    name: 'udp',
    run: (bytes, seed) => withSocket((socket) => askAll(socket, { port, host }, bytes, seed, (datagram) => datagram, (datagram) => datagram)),
  };
}

/** UDP ASSOCIATE of SOCKS5: the association lives as long as its connection. */
export function socksDatagrams(port: number, target: string, host = '127.0.0.1'): Traffic {
  const remoteHost = parseTarget(target) ?? { host: '', port: 0 };
  const wrap = (data: Buffer): Buffer => SocksClient.createUDPFrame({ remoteHost, data });
  const unwrap = (frame: Buffer): Buffer => SocksClient.parseUDPFrame(frame).data;
  return {
    name: 'socks5 UDP',
    run: async (bytes, seed) => {
      const control = await connect(port, host);
      try {
        const client = new SocksClient({
          proxy: { host, port, type: 5 },
          command: 'associate',
          destination: { host: '0.0.0.0', port: 0 },
          timeout: TIMEOUT_MS,
        });
        const established = new Promise<number>((resolve, reject) => {
          client.once('established', (info) => resolve(info.remoteHost?.port ?? 0)).once('error', reject);
        });
        client.connect(control);
        const relay = await established;
        await withSocket((socket) => askAll(socket, { port: relay, host }, bytes, seed, wrap, unwrap));
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

async function askAll(
  socket: dgram.Socket,
  { port, host = '127.0.0.1' }: { readonly port: number; readonly host?: string | undefined },
  bytes: number,
  seed: number,
  wrap: (data: Buffer) => Buffer,
  unwrap: (frame: Buffer) => Buffer,
): Promise<void> {
  for (let i = 0; i < COUNT; i++) {
    const datagram = Buffer.concat([...payload(Math.min(bytes, LARGEST), seed + i)]);
    const earlier = i === 0 ? undefined : Buffer.concat([...payload(Math.min(bytes, LARGEST), seed + i - 1)]);
    await answered(socket, () => socket.send(wrap(datagram), port, host), (answer) => {
      if (unwrap(answer).equals(datagram)) return true;
      // The answer to one that was sent twice.
      if (earlier && unwrap(answer).equals(earlier)) return false;
      throw new WrongBytes('another datagram than was sent');
    });
  }
}

/** Sends until the answer comes. @throws {Error} when it does not, and what `isAnswer` throws */
function answered(socket: dgram.Socket, send: () => void, isAnswer: (datagram: Buffer) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let sent = 1;
    const timer = setInterval(() => {
      if (sent++ < AGAIN.times) send();
      else end(() => reject(new Error(`a datagram was sent ${AGAIN.times} times and not answered`)));
    }, AGAIN.ms);
    const end = (outcome: () => void): void => {
      clearInterval(timer);
      socket.off('message', onMessage);
      outcome();
    };
    const onMessage = (datagram: Buffer): void => {
      try {
        if (isAnswer(datagram)) end(resolve);
      } catch (error) {
        end(() => reject(error));
      }
    };
    socket.on('message', onMessage);
    send();
  });
}
