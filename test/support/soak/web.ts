import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { covering } from '../certificates.ts';
import { hashOf, payload } from '../payload.ts';
import type { ServedFile } from './targets.ts';
import { check, checkHash, type Traffic, WrongBytes } from './transfer.ts';

const HOST = '127.0.0.1';

/** Requests in absolute form to a forward proxy. */
export function proxyRequests(port: number, target: string, host = HOST): Traffic {
  return { name: 'httpProxy requests', run: (bytes, seed) => post({ host, port, path: `http://${target}/echo`, headers: { host: target } }, bytes, seed) };
}

/** HTTP/1.1 requests to a host. */
export function hostRequests(port: number, name: string): Traffic {
  return { name: 'host http', run: (bytes, seed) => post({ port, path: '/echo', headers: { host: name } }, bytes, seed) };
}

/** Two requests on one connection, to something that sends the bodies back. */
async function post(options: http.RequestOptions, bytes: number, seed: number): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  try {
    for (let i = 0; i < 2; i++) {
      const request = http.request({ host: HOST, agent, method: 'POST', ...options });
      const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
      request.on('error', () => undefined); // the reader of the response gets the error
      const sent = pipeline(Readable.from(payload(bytes, seed + i), { objectMode: false }), request).catch(() => undefined);
      const [response] = await answered;
      await checked(response, response.statusCode, bytes, seed + i);
      await sent;
    }
  } finally {
    agent.destroy();
  }
}

/** @throws {Error} with the status unless it is 200 */
async function checked(response: AsyncIterable<unknown>, status: number | undefined, bytes: number, seed: number): Promise<void> {
  if (status !== 200) throw new Error(`status ${status}`);
  await check(response, bytes, seed);
}

/** HTTP/2 requests to a host over TLS, two at a time on one connection. */
export function secureHostRequests(port: number, name: string): Traffic {
  return {
    name: 'host h2',
    run: async (bytes, seed) => {
      const session = http2.connect(`https://${name}:${port}`, { host: HOST, servername: name, ca: covering.certificate });
      const failed = new Promise<never>((_resolve, reject) => {
        session.once('error', reject);
      });
      try {
        await Promise.race([failed, Promise.all([seed, seed + 1].map((own) => post2(session, bytes, own)))]);
      } finally {
        failed.catch(() => undefined);
        // Not in the callback of a stream that the server reset: Node would then write frames of that stream until there is no memory left (nodejs/node#52952).
        await nextIteration();
        session.on('error', () => undefined).destroy();
      }
    },
  };
}

async function post2(session: http2.ClientHttp2Session, bytes: number, seed: number): Promise<void> {
  const stream = session.request({ ':method': 'POST', ':path': '/echo' });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    stream.once('response', (headers) => resolve(headers[':status'])).once('error', reject);
    // A stream whose connection is closed without an error ends without one.
    stream.once('close', () => reject(new Error('closed without a response')));
  });
  const sent = pipeline(Readable.from(payload(bytes, seed), { objectMode: false }), stream, { end: true }).catch(() => undefined);
  await checked(stream, await answered, bytes, seed);
  await sent;
}

/** Files of a file tunnel: the whole of one, or a range. */
export function fileRequests(port: number, files: readonly ServedFile[], host = HOST): Traffic {
  return {
    name: 'file',
    run: async (bytes, seed) => {
      const file = files.find(({ content }) => content.length >= bytes) ?? files[0];
      if (!file) throw new Error('no files');
      const from = seed % 2 === 0 ? 0 : seed % file.content.length;
      const wanted = file.content.subarray(from);
      const response = await get({ host, port, path: `/${file.name}`, headers: from > 0 ? { range: `bytes=${from}-` } : {} });
      if (response.statusCode !== (from > 0 ? 206 : 200)) throw new Error(`status ${response.statusCode}`);
      if (from === 0) return checkHash(response, file.content.length, file.hash);
      const chunks: Buffer[] = [];
      for await (const chunk of response) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
      if (!Buffer.concat(chunks).equals(wanted)) throw new WrongBytes(`another range than bytes ${from}-`);
    },
  };
}

async function get(options: http.RequestOptions): Promise<http.IncomingMessage> {
  const request = http.request({ host: HOST, agent: false, ...options });
  const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
  request.on('error', () => undefined).end(); // the reader of the response gets the error
  return (await answered)[0];
}

/** Messages of a WebSocket, which a request to a host was upgraded to. */
export function webSockets(port: number, name: string): Traffic {
  return {
    name: 'host WebSocket',
    run: async (bytes, seed) => {
      const socket = new WebSocket(`ws://${HOST}:${port}/socket`, { headers: { host: name }, handshakeTimeout: 15_000 });
      try {
        await once(socket, 'open');
        const message = Buffer.concat([...payload(bytes, seed)]);
        for (let i = 0; i < 2; i++) {
          const answered = Promise.race([
            once(socket, 'message'),
            once(socket, 'close').then(([code]) => {
              throw new Error(`closed with ${code}`);
            }),
          ]);
          socket.send(message);
          const [answer]: unknown[] = await answered;
          await checkHash([answer], message.length, hashOf(bytes, seed));
        }
        const closed = once(socket, 'close');
        socket.close(1000);
        const [code]: unknown[] = await closed;
        if (code !== 1000) throw new Error(`closed with ${String(code)}`);
      } finally {
        socket.on('error', () => undefined).terminate();
      }
    },
  };
}
