import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type net from 'node:net';
import path from 'node:path';
import { SocksClient } from 'socks';
import type { WantedTunnel } from '../../src/engine/face.ts';
import { parseTarget } from '../../src/rules/targets.ts';
import { scratchDirectory } from './scratch.ts';
import { closed, readAll, roundTrip, startEcho, visit } from './target.ts';
import type { TestEngine } from './tunnel.ts';
import { udpEcho, udpPeer } from './udp.ts';
import { startVisitor } from './visitor.ts';

/** A visit to a tunnel at whose other end everything is sent back. */
export interface Visit {
  /** Sends a text of at most 1,000 characters and resolves to what comes back. Rejects, or never ends, when the visit is refused or over. */
  echo(text: string): Promise<string>;
  /** Sends a text and ends its direction; resolves to what comes back until the peer ends too. Only where a protocol has ends. */
  finish?(text: string): Promise<string>;
  /** Resolves when the visitor has lost its connection. Only where a protocol has connections. */
  readonly over?: () => Promise<void>;
}

/** The lines of the shared suite that some mode cannot pass. */
type ModeLine = 'half close' | 'rate';

/** What the shared suite has to know of a tunnel mode. */
export interface ModeUnderTest {
  readonly mode: string;
  /** How its connections go, if there are several ways. */
  readonly way?: 'direct' | 'relayed' | 'datagrams';
  /** Starts something to reach, on 127.0.0.1 by default, which sends back what it gets. @returns what the tunnel needs beside its mode */
  target(host?: string): Promise<Partial<WantedTunnel>>;
  /** A visitor program on this machine; the tunnel may notice it only with its first text. @param host an address of the tunnel's port, else 127.0.0.1 */
  visit(tunnel: WantedTunnel, server: TestEngine, host?: string): Promise<Visit>;
  /** Why it does not pass a line. */
  readonly cannot?: Readonly<Partial<Record<ModeLine, string>>>;
}

const password = 'what every visitor proves';

/** Everything said on a connection is sent back. */
function talk(socket: net.Socket): Visit {
  return {
    echo: (text) => roundTrip(socket, text),
    finish: async (text) => {
      socket.end(text);
      return String(await readAll(socket));
    },
    over: () => closed(socket),
  };
}

async function echoTarget(host?: string): Promise<Partial<WantedTunnel>> {
  return { targets: [(await startEcho(host)).address] };
}

async function secretTarget(): Promise<Partial<WantedTunnel>> {
  return { ...await echoTarget(), password };
}

/** Asks for a file that holds the text, and says the text in the request too: so it goes both ways. */
function ask(socket: net.Socket, { localPath }: WantedTunnel, text: string, last: boolean): void {
  const name = createHash('sha256').update(text).digest('hex');
  writeFileSync(path.join(localPath, name), text);
  const request = `GET /${name} HTTP/1.1\r\nHost: files\r\nX-Text: ${text}\r\nConnection: ${last ? 'close' : 'keep-alive'}\r\n\r\n`;
  if (last) socket.end(request);
  else socket.write(request);
}

/** The body of an answer once it is whole. */
function bodyOf(answer: string): string | undefined {
  const [head = '', body] = answer.split('\r\n\r\n');
  return body?.length === Number(/^content-length: (\d+)$/im.exec(head)?.[1]) ? body : undefined;
}

/** A row for each mode, which `test/engine/every-mode.test.ts` goes through. */
export const modes: readonly ModeUnderTest[] = [
  { mode: 'tcp', target: echoTarget, visit: async ({ port }, _, host) => talk(await visit(port, host)) },
  { mode: 'secret', target: secretTarget, visit: async (_, server) => talk(await visit((await startVisitor(server, { password })).port)) },
  {
    mode: 'p2p',
    way: 'relayed',
    target: secretTarget,
    visit: async (_, server) => talk(await visit((await startVisitor(server, { password, type: 'p2p' })).port)),
  },
  {
    mode: 'p2p',
    way: 'direct',
    target: secretTarget,
    visit: async (_, server) => {
      const visitor = await startVisitor(server, { password, type: 'p2p' });
      await visitor.log.line(/^direct path to the agent/);
      return talk(await visit(visitor.port));
    },
    cannot: {
      rate: 'the server does not see what passes on a direct path, so it cannot hold it back (docs/p2p.md)',
    },
  },
  {
    mode: 'httpProxy',
    target: echoTarget,
    visit: async ({ port, targets }, _, host) => {
      const socket = await visit(port, host);
      socket.write(`CONNECT ${targets[0]} HTTP/1.1\r\nHost: ${targets[0]}\r\n\r\n`);
      await once(socket, 'data');
      return talk(socket);
    },
  },
  {
    mode: 'socks5',
    target: echoTarget,
    visit: async ({ port, targets: [target = ''] }, _, host) => {
      const socket = await visit(port, host);
      await SocksClient.createConnection({
        proxy: { host: '127.0.0.1', port, type: 5 },
        existing_socket: socket,
        command: 'connect',
        destination: parseTarget(target) ?? { host: '', port: 0 },
      });
      return talk(socket);
    },
  },
  {
    mode: 'socks5',
    way: 'datagrams',
    target: async (host) => ({ targets: [(await udpEcho('', host)).address] }),
    visit: async ({ port, targets: [target = ''] }, _, host = '127.0.0.1') => {
      const control = await visit(port, host);
      const client = new SocksClient({ proxy: { host, port, type: 5 }, command: 'associate', destination: { host: '0.0.0.0', port: 0 } });
      const established = new Promise<number>((resolve, reject) => {
        client.once('established', ({ remoteHost }) => resolve(remoteHost?.port ?? 0)).once('error', reject);
      });
      client.connect(control);
      const association = await established;
      const peer = await udpPeer(host.includes(':') ? host : '127.0.0.1');
      const remoteHost = parseTarget(target) ?? { host: '', port: 0 };
      return {
        echo: async (text) => {
          const answer = await peer.ask(SocksClient.createUDPFrame({ remoteHost, data: Buffer.from(text) }), association, host);
          return String(SocksClient.parseUDPFrame(answer).data);
        },
        over: () => closed(control),
      };
    },
    cannot: { 'half close': 'datagrams have no end' },
  },
  {
    mode: 'udp',
    target: async () => ({ targets: [(await udpEcho()).address] }),
    visit: async ({ port }) => {
      const peer = await udpPeer();
      return { echo: async (text) => String(await peer.ask(text, port)) };
    },
    cannot: { 'half close': 'datagrams have no end' },
  },
  {
    mode: 'file',
    target: async () => ({ localPath: scratchDirectory() }),
    visit: async (tunnel, _, host) => {
      const socket = await visit(tunnel.port, host);
      return {
        echo: async (text) => {
          ask(socket, tunnel, text, false);
          let answer = '';
          for (;;) {
            const [chunk]: Buffer[] = await once(socket, 'data');
            answer += String(chunk);
            const body = bodyOf(answer);
            if (body !== undefined) return body;
          }
        },
        finish: async (text) => {
          ask(socket, tunnel, text, true);
          return bodyOf(String(await readAll(socket))) ?? '';
        },
        over: () => closed(socket),
      };
    },
  },
];
