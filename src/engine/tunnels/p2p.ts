import { encodeOpen } from '../../wire/open.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import { AgentSession } from '../bridge/agent-session.ts';
import type { WantedTunnel } from '../face.ts';
import { type DirectBytes, DirectTraffic } from '../limits/direct-traffic.ts';
import { secretMode } from './secret.ts';
import type { TunnelContext } from './tunnel-context.ts';
import type { TunnelMode, TunnelServer } from './tunnel-mode.ts';

/** The longest list of the targets of direct paths, in characters: it fits a message to the agent. */
const MOST_TEXT = 32 * 1024;
/** What a target takes in it, in addition to its own characters. */
const EACH = 3;

/**
 * A secret tunnel whose visitors may connect to the agent directly. The server carries the signaling between the two in
 * a connection like any other, and the path lasts as long as that connection.
 */
class P2pTunnel implements TunnelServer {
  readonly #context: TunnelContext;
  readonly #relay: TunnelServer;
  readonly #traffic = new DirectTraffic();
  /** With only the healthy targets. */
  #wanted: WantedTunnel;
  /** All targets, when the settings were last applied. */
  #all: readonly string[];

  constructor(context: TunnelContext, wanted: WantedTunnel) {
    this.#context = context;
    this.#relay = secretMode.serve(context, relayed(wanted));
    this.#wanted = wanted;
    this.#all = context.targets;
  }

  configure(wanted: WantedTunnel): void {
    const before = this.#all;
    this.#wanted = wanted;
    this.#all = this.#context.targets;
    this.#relay.configure(relayed(wanted));
    if (before.join('\n') === this.#all.join('\n')) return;
    // If none is healthy, direct paths get all targets of the edit: they must not go on dialing one that was removed.
    this.#session?.retarget(wanted.id, fitting(wanted.targets.length > 0 ? wanted.targets : this.#all));
  }

  /** If no target is healthy, direct paths keep the previous ones: open connections continue, and the agent's dials report the failure. */
  useTargets(targets: readonly string[]): void {
    this.#wanted = { ...this.#wanted, targets };
    this.#relay.useTargets?.(targets);
    if (targets.length > 0) this.#session?.retarget(this.#wanted.id, fitting(targets));
  }

  onSocket(socket: ByteSocket): void {
    this.#relay.onSocket?.(socket);
  }

  async onDirect(socket: ByteSocket): Promise<void> {
    const stunPorts = await this.#context.environment.stunServer.ports();
    const { id, password, targets } = this.#wanted;
    if (targets.length === 0) this.#context.refused('noTarget', socket);
    const carrier = targets.length === 0 ? undefined : this.#context.admit(socket.remoteAddress, socket);
    // With local_proxy the server dials the targets itself: there is no agent to connect to. From elsewhere, the client's home gets here with its own request.
    if (!carrier || !(carrier.session.elsewhere || carrier.session instanceof AgentSession)) {
      socket.destroy(true);
      return;
    }
    const payload = encodeOpen({ kind: 'direct', tunnelId: id, password, targets: fitting(targets), stunPorts: [...stunPorts] });
    this.#traffic.opened();
    this.#context.connections.carry(socket, carrier.session, carrier.client, payload, { onOver: () => this.#traffic.closed() });
  }

  /** The agent that direct paths lead to. */
  get #session(): AgentSession | undefined {
    return this.#context.environment.clients.get(this.#wanted.clientId)?.session;
  }

  believable(reported: DirectBytes): DirectBytes {
    return this.#traffic.believable(reported);
  }
}

/** The first targets, as many as fit a message to the agent. */
function fitting(targets: readonly string[]): string[] {
  let left = MOST_TEXT;
  return targets.filter((target) => (left -= target.length + EACH) >= 0);
}

/** Without a PROXY protocol header: direct paths have none, and a target must not have to guess. */
function relayed(wanted: WantedTunnel): WantedTunnel {
  return { ...wanted, proxyProtocol: '' };
}

/** A secret tunnel whose visitors take a direct path to the agent where one opens. */
export const p2pMode: TunnelMode = { name: 'p2p', serve: (context, wanted) => new P2pTunnel(context, wanted) };
