import { once } from 'node:events';
import net from 'node:net';

/** A way over TCP to a PostgreSQL server with a Unix socket, on which the next COMMIT or its response can be lost. */
export interface PostgresqlRelay {
  /** The database's URL through the relay. */
  readonly url: string;
  /**
   * The connection of the next COMMIT is cut: before the server gets it, or after the server has responded to it. With `away`, the relay then accepts no
   * connection either.
   */
  lose(what: 'commit' | 'response', away?: boolean): void;
  /** Forwards nothing any more, or goes on: connections stay open, and new ones are accepted. */
  freeze(on: boolean): void;
  /** Cuts all connections, and accepts none. */
  goAway(): void;
  /** Accepts connections again. */
  comeBack(): void;
  close(): void;
}

/** Starts a relay to the database of a URL with a `host` parameter. @param at the address on which it listens */
export async function relayToPostgresql(url: string, at = '127.0.0.1'): Promise<PostgresqlRelay> {
  const { pathname, searchParams } = new URL(url);
  const sockets = new Set<net.Socket>();
  let losing: { readonly what: 'commit' | 'response'; readonly away: boolean } | undefined;
  let away = false;
  let frozen = false;
  const goAway = (): void => {
    away = true;
    for (const socket of sockets) socket.destroy();
  };
  const server = net.createServer((near) => {
    if (away) {
      near.destroy();
      return;
    }
    const far = net.connect(`${searchParams.get('host') ?? ''}/.s.PGSQL.5432`);
    let cutting = false;
    const cut = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      if (frozen) socket.pause();
      socket.on('error', cut).on('close', () => {
        sockets.delete(socket);
        cut();
      });
    }
    near.on('data', (bytes) => {
      if (losing !== undefined && bytes.includes('COMMIT')) {
        const { what, away: stays } = losing;
        losing = undefined;
        cutting = true;
        if (stays) far.once('data', goAway);
        if (what === 'commit') {
          cut();
          return;
        }
      }
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      if (cutting) cut();
      else near.write(bytes);
    });
  });
  await once(server.listen(0, at), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the relay does not listen');
  return {
    url: `postgresql://postgres@${at}:${address.port}${pathname}`,
    lose(what, stays = false) {
      losing = { what, away: stays };
    },
    freeze(on) {
      frozen = on;
      for (const socket of sockets) {
        if (on) socket.pause();
        else socket.resume();
      }
    },
    goAway,
    comeBack() {
      away = false;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
