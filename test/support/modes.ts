import { once } from 'node:events';
import { SocksClient } from 'socks';
import type { WantedTunnel } from '../../src/engine/face.ts';
import { parseTarget } from '../../src/rules/targets.ts';
import { roundTrip, startEcho, visit } from './target.ts';
import type { TestEngine } from './tunnel.ts';
import { udpEcho, udpPeer } from './udp.ts';
import { startVisitor } from './visitor.ts';

/** A visit to a tunnel at whose other end everything is sent back. */
export interface Visit {
  /** Sends a text of at most 1,000 characters and resolves to what comes back. Rejects, or never ends, when the visit is refused or over. */
  echo(text: string): Promise<string>;
}

/** What the shared suite has to know of a tunnel mode. */
export interface ModeUnderTest {
  readonly mode: string;
  /** Starts something to reach, which sends back what it gets. @returns what the tunnel needs beside its mode */
  target(): Promise<Partial<WantedTunnel>>;
  /** A program that visits, from 127.0.0.1; the tunnel may hear of it with its first text only. */
  visit(tunnel: WantedTunnel, server: TestEngine): Promise<Visit>;
}

/** A row for each mode, which `test/engine/every-mode.test.ts` goes through. */
export const modes: readonly ModeUnderTest[] = [
  {
    mode: 'tcp',
    target: async () => ({ targets: [(await startEcho()).address] }),
    visit: async ({ port }) => {
      const socket = await visit(port);
      return { echo: (text) => roundTrip(socket, text) };
    },
  },
  {
    mode: 'secret',
    target: async () => ({ targets: [(await startEcho()).address], password: 'what every visitor proves' }),
    visit: async ({ password }, server) => {
      const socket = await visit((await startVisitor(server, { password })).port);
      return { echo: (text) => roundTrip(socket, text) };
    },
  },
  {
    mode: 'httpProxy',
    target: async () => ({ targets: [(await startEcho()).address] }),
    visit: async ({ port, targets }) => {
      const socket = await visit(port);
      socket.write(`CONNECT ${targets[0]} HTTP/1.1\r\nHost: ${targets[0]}\r\n\r\n`);
      await once(socket, 'data');
      return { echo: (text) => roundTrip(socket, text) };
    },
  },
  {
    mode: 'socks5',
    target: async () => ({ targets: [(await startEcho()).address] }),
    visit: async ({ port, targets: [target = ''] }) => {
      const socket = await visit(port);
      await SocksClient.createConnection({
        proxy: { host: '127.0.0.1', port, type: 5 }, existing_socket: socket, command: 'connect', destination: parseTarget(target) ?? { host: '', port: 0 },
      });
      return { echo: (text) => roundTrip(socket, text) };
    },
  },
  {
    mode: 'udp',
    target: async () => ({ targets: [(await udpEcho()).address] }),
    visit: async ({ port }) => {
      const peer = await udpPeer();
      return { echo: async (text) => String(await peer.ask(text, port)) };
    },
  },
];
