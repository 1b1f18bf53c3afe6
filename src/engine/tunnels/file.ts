import { encodeOpen } from '../../wire/open.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import type { WantedTunnel } from '../face.ts';
import type { TunnelContext } from './tunnel-context.ts';
import type { TunnelMode, TunnelServer } from './tunnel-mode.ts';

/** Connects visitors with the agent's file server, which handles the HTTP; this side only moves bytes. */
class FileTunnel implements TunnelServer {
  readonly #context: TunnelContext;
  #payload: Buffer;

  constructor(context: TunnelContext, wanted: WantedTunnel) {
    this.#context = context;
    this.#payload = payloadOf(wanted, this.#context.by);
  }

  configure(wanted: WantedTunnel): void {
    this.#payload = payloadOf(wanted, this.#context.by);
  }

  onSocket(socket: ByteSocket): void {
    const carrier = this.#context.admit(socket.remoteAddress, socket);
    if (carrier) this.#context.connections.carry(socket, carrier.session, carrier.client, this.#payload);
    else socket.destroy(true);
  }
}

function payloadOf({ localPath, stripPrefix }: WantedTunnel, by: string): Buffer {
  return encodeOpen({ kind: 'file', by, path: localPath, stripPrefix });
}

/** Files of the agent's machine over HTTP. */
export const fileMode: TunnelMode = { name: 'file', serve: (context, wanted) => new FileTunnel(context, wanted) };
