import type { ByteSocket } from '../../wire/socket.ts';
import type { Opener, OpenerVisitor } from '../../wire/stream.ts';
import type { UnreadLedger } from '../../wire/unread-budget.ts';
import type { RefusalCause } from '../face.ts';
import type { ClientUsage } from '../limits/client-usage.ts';
import type { Meter } from '../limits/meter.ts';
import type { Visitors } from '../limits/visitors.ts';
import { Connection, type Counted } from './connection.ts';

/** Options of a connection. */
export interface CarryOptions {
  /** As for `Opener.open`. */
  readonly dataFollows?: boolean;
  /** As for `Opener.open`. */
  readonly credit?: number;
  /** Also counts the bytes that wait for the visitor. */
  readonly unread?: UnreadLedger | undefined;
  /** Called once, when the connection is over or was refused. */
  readonly onOver?: () => void;
}

/** For protocols in which the visitor most likely sends first. */
export const DATA_FOLLOWS: CarryOptions = { dataFollows: true };
const NOTHING_SPECIAL: CarryOptions = {};

/** The open visitor connections of one tunnel: carried, counted, limited and closed here for every tunnel mode. */
export class Connections {
  readonly #tunnel: Meter;
  readonly #visitors: Visitors;
  /** What its connections count for: one client, unless the tunnel got another one. */
  readonly #counted = new Map<ClientUsage, Counted>();

  constructor(tunnel: Meter, visitors: Visitors) {
    this.#tunnel = tunnel;
    this.#visitors = visitors;
  }

  /**
   * Connects `socket` with the target of `payload` through a session; the bytes count for the tunnel and for `client`. The socket is
   * reset if the session accepts no more streams, or if the client has reached its limit of connections.
   */
  carry(
    socket: ByteSocket,
    session: Opener,
    client: ClientUsage,
    payload: Buffer,
    { dataFollows, credit, unread, onOver }: CarryOptions = NOTHING_SPECIAL,
  ): void {
    const tunnel = this.#tunnel;
    const { remoteAddress: address } = socket;
    if (!this.#visitors.enter(address)) {
      this.#refuse(socket, client, 'capacity');
      onOver?.();
      return;
    }
    const full = client.full && session.elsewhere !== true;
    const stream = full ? undefined : session.open(payload, dataFollows, credit, session.elsewhere ? this.#visitorOf(socket) : undefined);
    if (!stream) {
      this.#visitors.leave(address);
      this.#refuse(socket, client, full ? 'connections' : 'agentCapacity');
      onOver?.();
      return;
    }
    if (session.elsewhere) {
      this.#visitors.trace?.say(socket, 'opened', { clientId: client.id, stream: stream.id, elsewhere: true });
      stream.join(socket, {
        unread,
        onClose: (error) => {
          this.#visitors.trace?.say(socket, 'closed', { reason: error?.message ?? 'both sides have ended' });
          this.#visitors.leave(address);
          onOver?.();
        },
      });
      return;
    }
    const connection = new Connection(socket, stream, this.#countedFor(client));
    client.open.add(connection);
    tunnel.connections++;
    client.connections++;
    this.#visitors.trace?.say(socket, 'opened', { connection: connection.id, clientId: client.id, stream: stream.id });
    stream.join(connection, {
      unread,
      onClose: (error) => {
        this.#visitors.trace?.say(socket, 'closed', closing(connection, error));
        client.open.delete(connection);
        this.#visitors.leave(address);
        tunnel.connections--;
        client.connections--;
        onOver?.();
      },
    });
  }

  #countedFor(client: ClientUsage): Counted {
    const known = this.#counted.get(client);
    if (known) return known;
    const counted: Counted = { tunnel: this.#tunnel, client };
    this.#counted.set(client, counted);
    return counted;
  }

  #visitorOf(socket: ByteSocket): OpenerVisitor {
    return { of: this.#tunnel.owner === 'host' ? 'host' : 'tunnel', id: this.#tunnel.id, socket };
  }

  #refuse(socket: ByteSocket, client: ClientUsage, cause: RefusalCause): void {
    this.#visitors.trace?.say(socket, 'refused', { clientId: client.id, cause });
    this.#tunnel.countRefusal(cause);
    client.countRefusal(cause);
    socket.destroy(true);
  }

  /** Resets every connection. */
  closeAll(): void {
    // A client with many tunnels may end: those without connections need not look at the client's.
    if (this.#tunnel.connections === 0) return;
    for (const counted of this.#counted.values()) for (const connection of counted.client.open.of(counted)) connection.cut();
  }
}

/** The trace's summary of a connection that is over. */
function closing({ state: { id, inletBytes, exportBytes } }: Connection, error: Error | undefined): object {
  return { connection: id, inletBytes, exportBytes, reason: error?.message ?? 'both sides have ended' };
}
