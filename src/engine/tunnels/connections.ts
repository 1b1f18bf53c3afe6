import type { Stream } from '../../wire/mux.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import type { AgentSession } from '../bridge/agent-session.ts';
import type { Meter } from '../limits/meter.ts';
import type { Visitors } from '../limits/visitors.ts';

/** The open visitor connections of one tunnel: carried, counted and closed here whatever the tunnel's mode. */
export class Connections {
  readonly #tunnel: Meter;
  readonly #visitors: Visitors;
  readonly #open = new Set<Stream>();

  constructor(tunnel: Meter, visitors: Visitors) {
    this.#tunnel = tunnel;
    this.#visitors = visitors;
  }

  /**
   * Connects `socket` with what `payload` names on the agent's side; the bytes count for the tunnel and for `client`. The socket is
   * reset when the session takes no more.
   */
  carry(socket: ByteSocket, session: AgentSession, client: Meter, payload: Buffer): void {
    const tunnel = this.#tunnel;
    const stream = session.open(payload);
    if (!stream) {
      socket.destroy(true);
      return;
    }
    this.#open.add(stream);
    this.#visitors.enter();
    tunnel.connections++;
    client.connections++;
    stream.join(socket, {
      onSent: (bytes) => {
        tunnel.countInlet(bytes);
        client.countInlet(bytes);
      },
      onReceived: (bytes) => {
        tunnel.countExport(bytes);
        client.countExport(bytes);
      },
      onClose: () => {
        this.#open.delete(stream);
        this.#visitors.leave();
        tunnel.connections--;
        client.connections--;
      },
    });
  }

  /** Resets every connection. */
  closeAll(): void {
    for (const stream of this.#open) stream.reset();
  }
}
