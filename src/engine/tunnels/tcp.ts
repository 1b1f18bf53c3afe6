import type { ByteSocket } from '../../wire/socket.ts';
import type { WantedTunnel } from '../face.ts';
import { DATA_FOLLOWS } from './connections.ts';
import { proxyHeader } from './proxy-header.ts';
import { TargetRotation } from './target-rotation.ts';
import type { TunnelContext } from './tunnel-context.ts';
import type { TunnelMode, TunnelServer } from './tunnel-mode.ts';

/** Forwards the bytes of every connection to one of the targets, used in round-robin order. */
class TcpTunnel implements TunnelServer {
  readonly #context: TunnelContext;
  #targets: TargetRotation;
  #proxyProtocol: WantedTunnel['proxyProtocol'];

  constructor(context: TunnelContext, wanted: WantedTunnel) {
    this.#context = context;
    this.#targets = new TargetRotation({ kind: 'tcp', by: this.#context.by }, wanted.targets);
    this.#proxyProtocol = wanted.proxyProtocol;
  }

  configure(wanted: WantedTunnel): void {
    this.useTargets(wanted.targets);
    this.#proxyProtocol = wanted.proxyProtocol;
  }

  useTargets(targets: readonly string[]): void {
    this.#targets = new TargetRotation({ kind: 'tcp', by: this.#context.by }, targets, this.#targets);
  }

  onSocket(socket: ByteSocket): void {
    const payload = this.#targets.next;
    if (!payload) this.#context.refused('noTarget', socket);
    const carrier = payload && this.#context.admit(socket.remoteAddress, socket);
    const header = this.#proxyProtocol === '' ? undefined : proxyHeader(this.#proxyProtocol, socket);
    if (!carrier || header?.length === 0) {
      socket.destroy(true);
      return;
    }
    this.#targets.advance();
    if (header) socket.unread(header);
    this.#context.connections.carry(socket, carrier.session, carrier.client, payload, DATA_FOLLOWS);
  }
}

/** Plain TCP: the server's port to the agent's target. */
export const tcpMode: TunnelMode = { name: 'tcp', serve: (context, wanted) => new TcpTunnel(context, wanted) };
