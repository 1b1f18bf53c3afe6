import type { ByteSocket } from '../../wire/socket.ts';
import type { WantedTunnel } from '../face.ts';
import type { DirectBytes } from '../limits/direct-traffic.ts';
import type { UdpPort } from '../ports/udp-port.ts';
import type { TunnelContext } from './tunnel-context.ts';

/** One running tunnel: serves connections to its port, or those of visitor programs. */
export interface TunnelServer {
  /** Datagrams that were dropped since the server started. */
  readonly dropped?: number;
  /** Takes over a visitor's connection: one that the TCP listener accepted, or that a visitor program opened. */
  onSocket?(socket: ByteSocket): void;
  /** Carries the signaling between a visitor program and the agent for a direct path: `socket` leads to the program. */
  onDirect?(socket: ByteSocket): Promise<void>;
  /** The part of an agent's report on direct paths that counts; absent = it has none. */
  believable?(reported: DirectBytes): DirectBytes;
  /** Takes the UDP port over, whenever it was opened. */
  onPort?(port: UdpPort): void;
  /** Applies settings that need no new listener, from the next connection on. */
  configure(wanted: WantedTunnel): void;
  /** The healthy targets have changed: new connections go to these, open ones keep their target. */
  useTargets?(targets: readonly string[]): void;
  /** The server is shutting down: closes idle connections; the others should end soon. */
  drain?(): void;
  /** The tunnel was closed: closes everything except the `connections`. It may be opened again. */
  close?(): void;
}

/** A kind of tunnel: one file each, one line in the registry. */
export interface TunnelMode {
  readonly name: string;
  serve(context: TunnelContext, wanted: WantedTunnel): TunnelServer;
}
