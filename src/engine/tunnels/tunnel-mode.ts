import type { ByteSocket } from '../../wire/socket.ts';
import type { AgentSession } from '../bridge/agent-session.ts';
import type { WantedTunnel } from '../face.ts';
import type { Meter } from '../limits/meter.ts';
import type { Connections } from './connections.ts';

/** Who carries a new connection and for whom it counts. */
export interface Carrier {
  readonly session: AgentSession;
  readonly client: Meter;
}

/** What a running tunnel sees of the engine. */
export interface TunnelContext {
  readonly connections: Connections;
  /** undefined = refuse the connection: the agent is offline, the client may not serve, or a limit is reached. */
  admit(): Carrier | undefined;
}

/** One running tunnel: serves the connections that its listener accepts. */
export interface TunnelServer {
  /** Takes over a visitor's connection. */
  onSocket(socket: ByteSocket): void;
  /** Settings that need no new listener have changed; they hold from the next connection on. */
  configure(wanted: WantedTunnel): void;
}

/** A kind of tunnel: one file each, one line in the registry. */
export interface TunnelMode {
  readonly name: string;
  serve(context: TunnelContext, wanted: WantedTunnel): TunnelServer;
}
