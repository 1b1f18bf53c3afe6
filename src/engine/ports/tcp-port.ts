import type { Logger } from 'pino';
import type { SharePort } from '../../wire/shared-ports.ts';
import type { ByteSocket, SocketBackend, SocketServer } from '../../wire/socket.ts';
import { logAcceptErrors } from '../limits/accept-errors.ts';

/** Handles connections that arrive while no tunnel serves the port. */
function turnAway(socket: ByteSocket): void {
  socket.destroy(true);
}

/** A bound TCP listener that may still wait for its tunnel; connections that arrive meanwhile are reset. */
export class TcpPort {
  readonly transport = 'tcp';
  /** The requested address; "" = all addresses. */
  readonly host: string;
  #server: SocketServer | undefined;
  #port = 0;
  #onSocket: (socket: ByteSocket) => void = turnAway;

  private constructor(host: string) {
    this.host = host;
  }

  /**
   * Binds now. Accepts that fail later (out of file descriptors, say) are logged.
   * @param anyHost the address for tunnels that request none; "" = all
   * @param share as for `ListenOptions`
   * @throws the system's error, its `code` the errno name
   */
  static async bind(
    backend: SocketBackend,
    address: { readonly host: string; readonly port: number },
    log: Logger,
    anyHost: string,
    share?: SharePort,
  ): Promise<TcpPort> {
    const held = new TcpPort(address.host);
    held.#server = await backend.listen({
      host: address.host || anyHost,
      port: address.port,
      share,
      onSocket: (socket) => held.#onSocket(socket),
      onError: logAcceptErrors(log, address.port),
    });
    held.#port = held.#server.port;
    return held;
  }

  /** The port that was bound. */
  get port(): number {
    return this.#port;
  }

  /** From now on connections go to `onSocket`. */
  serve(onSocket: (socket: ByteSocket) => void): void {
    this.#onSocket = onSocket;
  }

  /** Frees the port; accepted connections stay open. */
  async close(): Promise<void> {
    this.#onSocket = turnAway;
    await this.#server?.close();
  }
}
