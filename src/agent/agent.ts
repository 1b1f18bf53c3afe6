import os from 'node:os';
import type { Logger } from 'pino';
import { FileServer } from '../requests/files/file-server.ts';
import { netBackend } from '../wire/net-socket.ts';
import type { SocketBackend, TlsTrust } from '../wire/socket.ts';
import { KeptConnection, runUntilStopped } from './keep-connected.ts';
import { Link } from './link.ts';

/** How an agent is started. */
export interface AgentOptions {
  /** The bridge. */
  readonly server: { readonly host: string; readonly port: number };
  /** `server` is the bridge's TLS port. Left out = plain, unless the server says that the client is served over TLS only. */
  readonly tls?: TlsTrust | undefined;
  /** The client's verification key; proven, never sent. */
  readonly vkey: string;
  readonly log: Logger;
  /** The program's version, told to the server. */
  readonly version: string;
  readonly sockets?: SocketBackend;
  /** Directories whose files tunnels may serve, with all below them. */
  readonly allowFiles?: readonly string[];
  /** Yields 0 <= x < 1: the jitter of the reconnect delays. */
  readonly random?: () => number;
}

/** Keeps a session with the server and serves what it asks for. */
export class Agent {
  readonly #kept: KeptConnection<Link>;
  readonly #files: FileServer;

  constructor({ server, tls, vkey, log, version, sockets = netBackend, allowFiles = [], random }: AgentOptions) {
    this.#files = new FileServer(allowFiles, log);
    const info = { version, localAddress: localAddresses() };
    this.#kept = new KeptConnection({
      server, log, random,
      open: () => Link.open({ server, tls, vkey, info, sockets, log, files: this.#files }),
      whoIs: ({ clientId, secure }) => `client ${clientId}${secure ? ' over TLS' : ''}`,
    });
  }

  /** Resolves some time after `stop`. Never rejects: whatever a server does, the agent tries again. */
  run(): Promise<void> {
    return this.#kept.run();
  }

  /** Ends in good order: the server is told, and open connections get a moment to end. */
  async stop(): Promise<void> {
    await this.#kept.stop();
    this.#files.close();
  }
}

/** This machine's addresses, the loopback left out; at most what the server takes. */
function localAddresses(): string {
  const all = Object.values(os.networkInterfaces()).flatMap((list) => list ?? []);
  const own = all.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address);
  return own.slice(0, 10).join(', ');
}

/** Runs an agent as the program, until it is stopped by a signal. */
export async function runAgent(options: AgentOptions): Promise<void> {
  await runUntilStopped(new Agent(options), options.log);
}
