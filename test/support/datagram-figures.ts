import dgram from 'node:dgram';
import { once } from 'node:events';
import { z } from 'zod';
import { Child } from './child.ts';
import { type Limited, visitAs } from './limit-figures.ts';
import { openTunnel, signedNow } from './processes.ts';

/** A datagram without an answer for so long, in ms, is lost. */
const LOST_MS = 5000;

/** Round trips that are measured, however long it takes. */
const LEAST = 50;

/** Round trips, one after another, in ms. */
export interface Latency {
  readonly count: number;
  readonly lost: number;
  readonly p50: number;
  readonly p99: number;
}

/** Counts what arrives and says it. */
const sink = `
  let received = 0;
  const socket = require('node:dgram').createSocket('udp4').on('message', () => { received++; });
  socket.bind(0, '127.0.0.1', () => console.log('port ' + socket.address().port));
  setInterval(() => console.log('received ' + received), 100);
`;

/** Sends datagrams of 1,200 bytes as fast as the system takes them. */
const flooder = `
  const socket = require('node:dgram').createSocket('udp4');
  const bytes = Buffer.alloc(1200, 1);
  let sent = 0;
  const more = () => {
    for (let n = 0; n < 64; n++) socket.send(bytes);
    sent += 64;
    setImmediate(more);
  };
  socket.on('error', () => {});
  socket.connect(Number(process.argv[1]), '127.0.0.1', more);
  setInterval(() => console.log('sent ' + sent), 100);
`;

/** A udp tunnel that is flooded, by a process of its own, on its way to another. */
export interface DatagramFlood {
  /** Datagrams so far. */
  readonly sent: number;
  /** Datagrams that have arrived so far. */
  readonly received: number;
  /** Datagrams that the API says were dropped. */
  dropped(): Promise<number>;
  end(): Promise<void>;
}

const runtime = z.object({ data: z.object({ tunnel: z.object({ runtime: z.object({ dropped: z.number() }) }) }) });

/** Floods another tunnel of the client. Resolves when datagrams arrive. */
export async function startDatagramFlood({ server, clientId }: Limited): Promise<DatagramFlood> {
  const target = new Child(process.execPath, ['-e', sink]);
  const [, port] = await target.says(/port (\d+)/);
  const tunnel = await openTunnel(server, clientId, `127.0.0.1:${port}`, 'udp');
  const source = new Child(process.execPath, ['-e', flooder, String(tunnel.port)]);
  await target.says(/received [1-9]/);
  const last = ({ output }: Child) => Number(/(\d+)\s*$/.exec(output)?.[1] ?? 0);
  return {
    get sent() {
      return last(source);
    },
    get received() {
      return last(target);
    },
    dropped: async () => {
      const { auth_key, timestamp } = signedNow();
      const answer = await fetch(`http://127.0.0.1:${server.httpPort}/graphql?auth_key=${auth_key}&timestamp=${timestamp}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ query: `{ tunnel(id: ${tunnel.id}) { runtime { dropped } } }` }),
      });
      return runtime.parse(await answer.json()).data.tunnel.runtime.dropped;
    },
    end: async () => void await Promise.all([source.end(), target.end()]),
  };
}

/** Round trips of one byte on one connection of a tcp tunnel. */
export async function tcpLatency(port: number, seconds: number): Promise<Latency> {
  const socket = await visitAs(port, 'e');
  await once(socket, 'data');
  const took: number[] = [];
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until || took.length < LEAST) {
    const start = performance.now();
    socket.write('x');
    await once(socket, 'data');
    took.push(performance.now() - start);
  }
  socket.destroy();
  return latencyOf(took, 0);
}

/** Round trips of one datagram at a time through a udp tunnel whose target sends it back. */
export async function udpLatency(port: number, seconds: number): Promise<Latency> {
  const socket = dgram.createSocket('udp4');
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const took: number[] = [];
  let lost = 0;
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until || took.length + lost < LEAST) {
    const start = performance.now();
    socket.send('x');
    const answered = await once(socket, 'message', { signal: AbortSignal.timeout(LOST_MS) }).then(() => true, () => false);
    if (answered) took.push(performance.now() - start);
    else lost++;
  }
  socket.close();
  return latencyOf(took, lost);
}

function latencyOf(took: number[], lost: number): Latency {
  const sorted = took.toSorted((one, other) => one - other);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return { count: sorted.length, lost, p50: at(0.5), p99: at(0.99) };
}
