import type { ByteSocket } from '../../wire/socket.ts';
import { HttpProxyVisitor } from './http-proxy-visitor.ts';
import { ProxyVisitors } from './proxy-visitors.ts';
import type { TunnelContext } from './tunnel-context.ts';
import type { TunnelMode, TunnelServer } from './tunnel-mode.ts';

/** Fetches http:// URLs for its visitors and makes tunnels (CONNECT); the agent dials, and resolves the names. */
class HttpProxy implements TunnelServer {
  readonly #context: TunnelContext;
  readonly #visitors: ProxyVisitors;

  constructor(context: TunnelContext) {
    this.#context = context;
    this.#visitors = new ProxyVisitors(context);
  }

  configure(): void {
    // The listener is the only setting that it needs.
  }

  onSocket(socket: ByteSocket): void {
    const visitor = this.#visitors.enter(socket);
    if (visitor) void new HttpProxyVisitor(visitor, this.#context).serve();
  }

  drain(): void {
    this.#visitors.drain();
  }

  close(): void {
    this.#visitors.closeAll();
  }
}

/** An HTTP forward proxy (contract 4.6). */
export const httpProxyMode: TunnelMode = { name: 'httpProxy', serve: (context) => new HttpProxy(context) };
