import { encodeOpen } from '../../wire/open.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import type { WantedTunnel } from '../face.ts';
import type { TunnelContext, TunnelMode, TunnelServer } from './tunnel-mode.ts';

/** Forwards the bytes of every connection to one of the targets, used in turn. */
class TcpTunnel implements TunnelServer {
  readonly #context: TunnelContext;
  /** One ready payload for each target that goes first. */
  #payloads: readonly Buffer[];
  #next = 0;

  constructor(context: TunnelContext, wanted: WantedTunnel) {
    this.#context = context;
    this.#payloads = rotations(wanted.targets);
  }

  configure(wanted: WantedTunnel): void {
    this.#payloads = rotations(wanted.targets);
  }

  onSocket(socket: ByteSocket): void {
    const payload = this.#payloads[this.#next % this.#payloads.length];
    if (!payload) this.#context.refused('noTarget');
    const carrier = payload && this.#context.admit(socket.remoteAddress);
    if (!carrier) {
      socket.destroy(true);
      return;
    }
    this.#next = (this.#next + 1) % this.#payloads.length;
    this.#context.connections.carry(socket, carrier.session, carrier.client, payload);
  }
}

/** The agent tries the targets in the order given: each payload begins with another one. */
function rotations(targets: readonly string[]): Buffer[] {
  return targets.map((_, first) => encodeOpen({ kind: 'tcp', targets: [...targets.slice(first), ...targets.slice(0, first)] }));
}

/** Plain TCP: the server's port to the agent's target. */
export const tcpMode: TunnelMode = { name: 'tcp', serve: (context, wanted) => new TcpTunnel(context, wanted) };
