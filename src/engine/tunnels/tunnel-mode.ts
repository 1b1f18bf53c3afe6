import type { ByteSocket } from '../../wire/socket.ts';
import type { WantedTunnel } from '../face.ts';
import type { DirectBytes } from '../limits/direct-traffic.ts';
import type { UdpPort } from '../ports/udp-port.ts';
import type { TunnelContext } from './tunnel-context.ts';

/** One running tunnel: serves what arrives at its port, or what visitors' programs bring. */
export interface TunnelServer {
  /** Datagrams that were dropped since the server started. */
  readonly dropped?: number;
  /** Takes over a visitor's connection: one that the TCP listener accepted, or that a visitor's program brought. */
  onSocket?(socket: ByteSocket): void;
  /** Brings a visitor's program together with the agent, for a direct path: `socket` leads to the program. */
  onDirect?(socket: ByteSocket): Promise<void>;
  /** What of an agent's report on direct paths is to be counted; absent = it has none. */
  believable?(reported: DirectBytes): DirectBytes;
  /** Takes the UDP port over, whenever it was opened. */
  onPort?(port: UdpPort): void;
  /** Settings that need no new listener have changed; they hold from the next connection on. */
  configure(wanted: WantedTunnel): void;
  /** New connections go to these targets from now on, open ones stay where they are: others are in health. */
  useTargets?(targets: readonly string[]): void;
  /** No new connections come, and those that are open should end soon: ends those that carry nothing at the moment. */
  drain?(): void;
  /** The tunnel was closed: ends what is none of the `connections`. It may be opened again. */
  close?(): void;
}

/** A kind of tunnel: one file each, one line in the registry. */
export interface TunnelMode {
  readonly name: string;
  serve(context: TunnelContext, wanted: WantedTunnel): TunnelServer;
}
