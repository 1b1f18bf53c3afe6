import type { ByteSocket } from '../../wire/socket.ts';
import { UdpAssociations } from '../socks/udp-associations.ts';
import { ProxyVisitors } from './proxy-visitors.ts';
import { Socks5Visitor } from './socks5-visitor.ts';
import type { TunnelContext } from './tunnel-context.ts';
import type { TunnelMode, TunnelServer } from './tunnel-mode.ts';

/** Connects its visitors with the targets that they name, by TCP and UDP; the agent dials, and resolves the names. */
class Socks5 implements TunnelServer {
  readonly #context: TunnelContext;
  readonly #visitors: ProxyVisitors;
  readonly #associations = new UdpAssociations();

  constructor(context: TunnelContext) {
    this.#context = context;
    this.#visitors = new ProxyVisitors(context);
  }

  get dropped(): number {
    return this.#associations.dropped;
  }

  configure(): void {
    // The listener is the only setting that it needs.
  }

  onSocket(socket: ByteSocket): void {
    const visitor = this.#visitors.enter(socket);
    if (visitor) void new Socks5Visitor(visitor, this.#context, this.#associations).serve();
  }

  close(): void {
    this.#visitors.closeAll();
  }
}

/** A SOCKS5 proxy (RFC 1928, RFC 1929; contract 4.6). */
export const socks5Mode: TunnelMode = { name: 'socks5', serve: (context) => new Socks5(context) };
