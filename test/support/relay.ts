import { once } from 'node:events';
import net from 'node:net';
import { afterEach } from '@jest/globals';

const open: Relay[] = [];

afterEach(() => {
  for (const relay of open.splice(0)) relay.close();
});

/** A wire that can be cut without either end noticing: a TCP relay that stops forwarding. */
export class Relay {
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();
  readonly #frozen = new Set<net.Socket>();
  /** Bytes that came by, both directions. */
  bytes = 0;

  /** Starts a relay to a port of this machine. @param at where it listens; 0 = any free port */
  static async start(port: number, at = { host: '127.0.0.1', port: 0 }): Promise<Relay> {
    const relay = new Relay(port);
    open.push(relay);
    await once(relay.#server.listen(at.port, at.host), 'listening');
    return relay;
  }

  private constructor(port: number) {
    this.#server = net.createServer({ allowHalfOpen: true }, (near) => {
      const far = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      for (const [from, to] of [[near, far], [far, near]] as const) {
        this.#sockets.add(from);
        from.on('error', () => undefined).on('close', (failed) => {
          this.#sockets.delete(from);
          // One that ended normally has passed its end on, perhaps behind bytes that are still to be written.
          if (failed && !this.#frozen.has(from)) to.resetAndDestroy();
          this.#frozen.delete(from);
        });
        from.on('data', (chunk: Buffer) => {
          this.bytes += chunk.length;
        }).pipe(to);
      }
    });
  }

  /** Where to connect instead. */
  get address(): { readonly host: string; readonly port: number } {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the relay does not listen');
    return { host: address.address, port: address.port };
  }

  /** The connections stay open, until the next time, and nothing passes on them any more, not even their end. New connections pass. */
  freeze(): void {
    for (const socket of this.#frozen) socket.destroy();
    for (const socket of this.#sockets) {
      this.#frozen.add(socket);
      socket.unpipe().pause();
    }
  }

  /** Puts bytes of its own into every connection, both directions. */
  inject(bytes: Buffer): void {
    for (const socket of this.#sockets) socket.write(bytes);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
