import { DatagramBudget, DatagramSocket } from '../../wire/datagram-socket.ts';
import { unmapped } from '../../wire/mapped-address.ts';
import type { UdpAddress } from '../../wire/udp-socket.ts';
import type { WantedTunnel } from '../face.ts';
import type { UdpPort } from '../ports/udp-port.ts';
import { TargetRotation } from './target-rotation.ts';
import type { TunnelContext } from './tunnel-context.ts';
import type { TunnelMode, TunnelServer } from './tunnel-mode.ts';
import { UdpSessions } from './udp-sessions.ts';

/** Forwards datagrams: each visitor's address has a session of its own with one of the targets, used in round-robin order. */
class UdpTunnel implements TunnelServer {
  readonly #context: TunnelContext;
  readonly #sessions: UdpSessions;
  /** Shared by all sessions: visitors can forge their addresses, so a limit per session would have no effect. */
  readonly #budget = new DatagramBudget();
  #targets: TargetRotation;
  #dropped = 0;

  constructor(context: TunnelContext, wanted: WantedTunnel) {
    this.#context = context;
    this.#sessions = new UdpSessions(context.environment.udpIdleMs, context.environment.trusts);
    this.#targets = new TargetRotation({ kind: 'udp', by: this.#context.by }, wanted.targets);
  }

  get dropped(): number {
    return this.#dropped;
  }

  configure(wanted: WantedTunnel): void {
    this.useTargets(wanted.targets);
  }

  useTargets(targets: readonly string[]): void {
    this.#targets = new TargetRotation({ kind: 'udp', by: this.#context.by }, targets, this.#targets);
  }

  onPort(port: UdpPort): void {
    port.serve({
      onDatagram: (bytes, from) => {
        const session = this.#sessions.use(from) ?? this.#begin(port, from);
        if (session?.send(bytes) !== true) this.#dropped++;
      },
      onDropped: () => {
        this.#dropped++;
      },
      onClose: () => this.#sessions.closeAll(),
    });
  }

  /** undefined = the visitor is refused. */
  #begin(port: UdpPort, visitor: UdpAddress): DatagramSocket | undefined {
    const peer = { remoteAddress: unmapped(visitor.address), remotePort: visitor.port };
    this.#context.trace?.accepted(peer, { by: this.#context.by, type: 'udp' });
    const payload = this.#targets.next;
    if (!payload) this.#context.refused('noTarget', peer);
    const carrier = payload && this.#context.admit(peer.remoteAddress, peer);
    if (!carrier) return undefined;
    this.#targets.advance();
    const session = new DatagramSocket({
      ...peer,
      budget: this.#budget,
      onDatagram: (bytes) => {
        used();
        port.send(bytes, visitor);
      },
      onPeerDropped: (count) => {
        this.#dropped += count;
      },
      onClose: () => this.#sessions.remove(visitor, session),
    });
    this.#context.trace?.same(peer, session);
    const used = this.#sessions.add(visitor, session);
    this.#context.connections.carry(session, carrier.session, carrier.client, payload);
    return session;
  }
}

/** UDP: the datagrams at the server's port to the agent's target and back. */
export const udpMode: TunnelMode = { name: 'udp', serve: (context, wanted) => new UdpTunnel(context, wanted) };
