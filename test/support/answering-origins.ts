import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { answering } from '../../bench/answering.ts';
import { Child } from './child.ts';
import type { TakenRequest } from './conversation.ts';
import { programPath } from './find-program.ts';
import { freePort } from './free-port.ts';
import { portOf } from './raw-origin.ts';
import { scratchDirectory } from './scratch.ts';
import { Taken } from './taken.ts';

/** An origin that answers by itself, as programs do, and tells what it took for requests. */
export interface AnsweringOrigin {
  readonly target: string;
  /** What it took, in its order, and was not asked for. */
  readonly taken: TakenRequest[];
  /** The next one. */
  took(): Promise<TakenRequest>;
  close(): Promise<void>;
}

/** What node:http answers, by path. */
const answers: Readonly<Record<string, (response: http.ServerResponse, body: string) => void>> = {
  '/length': (response) => response.writeHead(200, { 'Content-Length': 5 }).end('hello'),
  '/chunks': (response) => {
    response.writeHead(200, { 'X-Spelled-So': 'yes' }).write('hel');
    response.end('lo');
  },
  '/trailer': (response) => {
    response.writeHead(200, { Trailer: 'X-Sum' }).write('hello');
    response.addTrailers({ 'X-Sum': '1' });
    response.end();
  },
  '/hints': (response) => response.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => response.end('ok')),
  '/close': (response) => response.writeHead(200, { Connection: 'close' }).end('bye'),
  '/cookies': (response) => response.writeHead(200, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']).end(),
  '/none': (response) => response.writeHead(204).end(),
  '/same': (response) => response.writeHead(304, { ETag: '"1"' }).end(),
  '/processing': (response) => {
    response.writeProcessing();
    response.end('done');
  },
  '/break': (response) => {
    response.writeHead(200, { 'Content-Length': 10 }).write('abc', () => response.destroy());
  },
};

/** node:http, as lenient as it can be made: echoes the body where nothing else is said. */
export async function startNodeOrigin(): Promise<AnsweringOrigin> {
  const taken = new Taken();
  const server = http.createServer({ insecureHTTPParser: true, keepAliveTimeout: 60_000 }, (request, response) => void take(request, response));
  const take = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    response.sendDate = false;
    const body = await text(request.setEncoding('latin1')).catch(() => undefined);
    // Cut off: not a request. It is reported all the same, so that a smuggled one would be seen.
    taken.add({
      line: `${request.method} ${request.url} HTTP/${request.httpVersion}`,
      fields: pairs(request.rawHeaders),
      body: body ?? '(cut off)',
      trailers: pairs(request.rawTrailers),
    });
    const answer = answers[request.url?.split('?')[0] ?? ''];
    if (answer) answer(response, body ?? '');
    else response.end(body, 'latin1');
  };
  server.on('checkExpectation', (request: http.IncomingMessage, response: http.ServerResponse) => {
    response.sendDate = false;
    taken.add({ line: `${request.method} ${request.url} HTTP/${request.httpVersion}`, fields: pairs(request.rawHeaders), body: '(expected)' });
    response.writeHead(417, { Connection: 'close' }).end();
  });
  server.on('upgrade', (request, socket) => {
    taken.add({ line: `${request.method} ${request.url} HTTP/${request.httpVersion}`, fields: pairs(request.rawHeaders), body: '' });
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n');
    socket.on('error', () => socket.destroy()).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    target: `127.0.0.1:${portOf(server)}`,
    taken: taken.list,
    took: () => taken.next(),
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function pairs(raw: readonly string[]): string[] {
  return Array.from({ length: raw.length / 2 }, (_, index) => `${raw[2 * index]}: ${raw[2 * index + 1]}`);
}

/** Fields that nginx' log names. */
const LOGGED = ['host', 'x_a', 'cookie', 'transfer_encoding', 'connection', 'x_forwarded_for', 'x_real_ip', 'x_forwarded_proto', 'x_forwarded_host'] as const;
const logged = z.object({ line: z.string(), body: z.string(), status: z.string() }).catchall(z.string());

/** Debian's nginx. Its log comes as datagrams, in its order. */
export async function startNginxOrigin(): Promise<AnsweringOrigin> {
  const taken = new Taken();
  const log = createSocket('udp4', (message) => {
    const { line, body, status, ...fields } = logged.parse(JSON.parse(message.toString().slice(message.indexOf('{'))));
    taken.add({
      line: line === '' ? `(status ${status})` : line,
      fields: Object.entries(fields).flatMap(([name, value]) => (value === '' ? [] : [`${name}: ${value}`])),
      body,
    });
  });
  log.bind(0, '127.0.0.1');
  await once(log, 'listening');
  const [directory, port] = [scratchDirectory(), await freePort()];
  const root = path.join(directory, 'root');
  mkdirSync(root);
  for (const [name, content] of [['index.html', '<p>hello</p>\n'], ['numbers.txt', '0123456789'], ['many.html', 'x'.repeat(5000)]] as const) {
    writeFileSync(path.join(root, name), content, { mode: 0o644 });
    utimesSync(path.join(root, name), 1_600_000_000, 1_600_000_000);
  }
  const config = path.join(directory, 'nginx.conf');
  const fields = LOGGED.map((name) => `"${name}":"$http_${name}"`).join(',');
  writeFileSync(
    config,
    `
    daemon off; master_process off; pid ${directory}/pid; error_log stderr crit;
    events { worker_connections 512; }
    http {
      log_format json escape=json '{"line":"$request","status":"$status","body":"$request_body",${fields}}';
      access_log syslog:server=127.0.0.1:${log.address().port},nohostname json;
      server_tokens off; port_in_redirect off; ignore_invalid_headers off; merge_slashes off; default_type text/plain; client_body_buffer_size 64k;
      client_body_temp_path ${directory}; proxy_temp_path ${directory}; fastcgi_temp_path ${directory}; uwsgi_temp_path ${directory}; scgi_temp_path ${directory};
      server {
        listen 127.0.0.1:${port}; root ${root};
        location /text { return 200 "hello\\n"; }
        location /moved { return 302 /text; }
        location /nothing { return 204; }
        location /limited { client_max_body_size 10; proxy_pass http://127.0.0.1:${port}/inner; }
        location /body { proxy_pass http://127.0.0.1:${port}/inner; }
        location /unbuffered { proxy_buffering off; proxy_request_buffering off; proxy_http_version 1.1; proxy_pass http://127.0.0.1:${port}/inner; }
        location /inner { access_log off; return 200 "taken\\n"; }
        location /packed { alias ${root}/many.html; gzip on; gzip_types text/plain; gzip_min_length 1; gzip_http_version 1.1; }
        location /once { keepalive_timeout 0; return 200 "once\\n"; }
      }
    }`,
  );
  const child = new Child(programPath('nginx'), ['-c', config, '-e', path.join(directory, 'errors')]);
  await answering(port, child);
  return {
    target: `127.0.0.1:${port}`,
    taken: taken.list,
    took: () => taken.next(),
    async close() {
      await child.end();
      log.close();
    },
  };
}

/** Dates of responses, made the same at the same length. */
export function settleDates(seen: string): string {
  return seen.replaceAll(/\bDate: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/g, 'Date: Thu, 01 Jan 1970 00:00:00 GMT');
}
