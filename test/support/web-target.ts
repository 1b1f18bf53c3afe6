import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { WebSocketServer } from 'ws';
import { payload } from './payload.ts';
import { portOf } from './raw-origin.ts';

const page =
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>shop</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css"></head>
<body><h1>shop</h1><img src="/picture.svg" alt=""><output id="posted"></output><output id="spoken"></output><script type="module" src="/script.js"></script></body></html>`;
const script = `
const posted = await fetch('/echo', { method: 'POST', body: 'what the page posts' });
document.querySelector('#posted').value = await posted.text();
const socket = new WebSocket(location.origin.replace('http', 'ws') + '/socket');
socket.onopen = () => socket.send('what the page says');
socket.onmessage = ({ data }) => { document.querySelector('#spoken').value = data; socket.close(1000, 'done'); };
`;

const files: Readonly<Record<string, readonly [type: string, content: string]>> = {
  '/': ['text/html', page],
  '/script.js': ['text/javascript', script],
  '/style.css': ['text/css', 'h1 { color: rgb(1, 2, 3) }'],
  '/picture.svg': ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"></svg>'],
};

/** A web server with a page, its assets, a WebSocket, events, and transfers of any size. */
export interface WebTarget {
  readonly address: string;
  /** Method and path of what it was asked, the WebSocket's included. */
  readonly requests: string[];
  /** What its WebSocket received. */
  readonly spoken: string[];
  /** How its WebSocket was closed. */
  readonly closed: Promise<number>;
  /** The response of a stream of events, when one was asked for. */
  events(): Promise<http.ServerResponse>;
  close(): void;
}

/** Starts one. */
export async function startWebTarget(): Promise<WebTarget> {
  const requests: string[] = [];
  const spoken: string[] = [];
  const server = http.createServer((request, response) => {
    const { method = '', url = '' } = request;
    requests.push(`${method} ${url}`);
    serve(request, response).catch(() => response.destroy()); // the visitor left
  });

  async function serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const [where = '', bytes = '', seed = ''] = (request.url ?? '').split(/(?<!^)\//);
    const file = files[request.url ?? ''];
    if (file) response.writeHead(200, { 'content-type': file[0] }).end(file[1]);
    else if (where === '/echo') response.end(`echo: ${await text(request)}`);
    else if (where === '/events') server.emit('events', response.writeHead(200, { 'content-type': 'text/event-stream' }));
    else if (where === '/down') Readable.from(payload(Number(bytes), Number(seed))).pipe(response.writeHead(200, { 'content-length': bytes }));
    else if (where === '/up') {
      const hash = createHash('sha256');
      for await (const chunk of request) hash.update(chunk);
      response.end(hash.digest('hex'));
    } else response.writeHead(404).end();
  }

  const sockets = new WebSocketServer({ server, path: '/socket' });
  const closed = new Promise<number>((resolve) => {
    sockets.on('connection', (socket, request) => {
      requests.push(`WebSocket ${request.url}`);
      socket.on('message', (data) => {
        const said = Buffer.isBuffer(data) ? data.toString() : '';
        spoken.push(said);
        socket.send(`heard: ${said}`);
      });
      socket.on('close', resolve);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${portOf(server)}`,
    requests,
    spoken,
    closed,
    async events() {
      const [response] = await once(server, 'events') as [http.ServerResponse];
      return response;
    },
    close() {
      sockets.close();
      server.closeAllConnections();
      server.close();
    },
  };
}
