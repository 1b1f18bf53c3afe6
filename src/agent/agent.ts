import os from 'node:os';
import type { Logger } from 'pino';
import type { HostPort } from '../rules/host-port.ts';
import { netBackend } from '../wire/net-socket.ts';
import type { SocketBackend, TlsTrust } from '../wire/socket.ts';
import type { Declared } from '../wire/declared.ts';
import type { OverviewPart, OverviewRow } from '../wire/overview.ts';
import type { AgentMessage } from '../wire/agent-messages.ts';
import type { Declarer } from './declarer.ts';
import { type ConnectionState, KeptConnection } from './keep-connected.ts';
import { Link } from './link.ts';
import { Overview } from './overview.ts';
import { ServedFiles } from './served-files.ts';
import { Standby } from './standby.ts';

/** How an agent is started. */
export interface AgentOptions {
  /** The bridges of the servers of one installation: the first is tried first. */
  readonly servers: readonly HostPort[];
  /** `servers` are the TLS ports of the bridges. Absent = without TLS, unless the server demands TLS for the client. */
  readonly tls?: TlsTrust | undefined;
  /** The client's verification key, used to authenticate. It is never sent. */
  readonly vkey: string;
  readonly log: Logger;
  /** The program's version, which is sent to the server. */
  readonly version: string;
  readonly sockets?: SocketBackend;
  /** Directories whose files tunnels may serve, with all below them. */
  readonly allowFiles?: readonly string[];
  /** The declarer for the entries of the configuration file; absent = there are no entries. */
  readonly declarer?: Declarer | undefined;
  /** Yields 0 <= x < 1: the jitter of the reconnect delays. */
  readonly random?: () => number;
}

/** Keeps a session with the server and answers its requests. */
export class Agent {
  readonly #kept: KeptConnection<Link>;
  readonly #files: ServedFiles;
  readonly #overview = new Overview();
  readonly #standby: Standby;
  #latest: Link | undefined;

  constructor({ servers, tls, vkey, log, version, sockets = netBackend, allowFiles = [], declarer, random }: AgentOptions) {
    this.#files = new ServedFiles(allowFiles, log);
    const info = { version, localAddress: localAddresses(), configFile: declarer !== undefined, credit: true, answersPings: true };
    const handlers = { onDeclared: (answer: Declared) => declarer?.answered(answer), onOverview: (part: OverviewPart) => this.#overview.add(part) };
    this.#standby = new Standby({ sockets, tls, vkey, log, random, current: () => this.#kept.current });
    this.#kept = new KeptConnection({
      servers,
      overTls: tls !== undefined,
      log,
      random,
      open: async (attempt) => {
        const link = await Link.open({
          ...attempt,
          onServers: (servers) => {
            attempt.onServers(servers);
            this.#standby.use(servers, attempt.server);
          },
          tls,
          vkey,
          info,
          sockets,
          log,
          files: this.#files,
          ...handlers,
        });
        declarer?.connected((message) => link.send(message));
        this.#latest = link;
        // A session that was left for another one still has connections.
        void link.ended.then(() => {
          if (this.#latest === link) declarer?.lost();
        });
        return link;
      },
      whoIs: ({ clientId, secure }) => `client ${clientId}${secure ? ' over TLS' : ''}`,
    });
  }

  /** Resolves some time after `stop`. Never rejects: after any failure the agent tries again. */
  run(): Promise<void> {
    return this.#kept.run();
  }

  /** Replaces the directories that may be served. */
  allowFiles(directories: readonly string[]): void {
    this.#files.allow(directories);
  }

  /** Sends the server a message, if there is a session. */
  send(message: AgentMessage): void {
    this.#kept.current?.send(message);
  }

  /** The state of the agent's session. */
  get state(): ConnectionState {
    return this.#kept.state;
  }

  /** The client's tunnels and hosts, as the server reports them; undefined = there is no session, or no answer. */
  overview(): Promise<readonly OverviewRow[] | undefined> {
    const link = this.#kept.current;
    return link ? this.#overview.ask(() => link.send({ type: 'overview' })) : Promise.resolve(undefined);
  }

  /** Stops gracefully: the server is notified, and open connections get a moment to end. */
  async stop(): Promise<void> {
    this.#standby.stop();
    await this.#kept.stop();
    await this.#files.close();
  }
}

/** This machine's addresses without loopback, limited to the number that the server accepts. */
function localAddresses(): string {
  const all = Object.values(os.networkInterfaces()).flatMap((list) => list ?? []);
  const own = all.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address);
  return own.slice(0, 10).join(', ');
}
