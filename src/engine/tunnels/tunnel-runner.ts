// Longer than 300 lines: it is the whole life of a tunnel's listener, whose states depend on each other.
import { keyedModes, type Transport, transportOf } from '../../rules/tunnel-mode.ts';
import type { HealthMessage } from '../../wire/health.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import type { VisitType } from '../../wire/visit-messages.ts';
import type { DirectBytes } from '../limits/direct-traffic.ts';
import { reasons } from '../bridge/reasons.ts';
import type { VisitedTunnel, VisitorSession, VisitRefusal } from '../bridge/visitor-session.ts';
import type { Environment } from '../environment.ts';
import type { TunnelState, WantedTunnel } from '../face.ts';
import { afterMessage, healthyTargets, type ReportedHealth, sameHealthy } from '../health/reported-health.ts';
import type { Meter } from '../limits/meter.ts';
import { bindHeldPort, type HeldPort } from '../ports/reserve-port.ts';
import { listenProblem } from '../ports/listen-error.ts';
import type { PortAddress } from '../ports/port-book.ts';
import type { Connections } from './connections.ts';
import { tunnelModes } from './registry.ts';
import { TunnelContext } from './tunnel-context.ts';
import type { TunnelServer } from './tunnel-mode.ts';
import { Visits } from './visits.ts';

/** Waits between attempts to open a listener that failed, in ms: doubling from the first to the longest. */
const RETRY = { first: 1000, longest: 30_000 } as const;

/**
 * Applies a tunnel's settings to its listener. Its methods must not overlap: the engine calls them one after another.
 */
export class TunnelRunner implements VisitedTunnel {
  readonly meter: Meter;
  readonly #environment: Environment;
  #wanted: WantedTunnel;
  // Made when they are needed: most tunnels of a large installation are idle, and each part takes a hundred bytes or more.
  #context: TunnelContext | undefined;
  #visits: Visits | undefined;
  #server: TunnelServer | undefined;
  #held: HeldPort | undefined;
  /** It serves: its listener is open, or it needs none. */
  #running = false;
  #error = '';
  /** The last reported state of listener and fault. */
  #reported = { running: false, error: '' };
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #health: ReportedHealth | undefined;

  constructor(environment: Environment, meter: Meter, wanted: WantedTunnel) {
    this.#environment = environment;
    this.meter = meter;
    this.#wanted = wanted;
  }

  get wanted(): WantedTunnel {
    return this.#wanted;
  }

  get running(): boolean {
    return this.#running;
  }

  /** undefined = its targets are not checked. */
  get health(): ReportedHealth | undefined {
    return this.#health;
  }

  get state(): TunnelState {
    return {
      running: this.#running,
      error: this.#error,
      refusals: this.meter.refusals,
      ...this.meter.traffic,
      dropped: this.#server?.dropped ?? 0,
      visitors: this.#visits?.states ?? [],
      health: this.#health?.state(this.#wanted.targets) ?? null,
    };
  }

  /** Its visitors' connections. */
  get connections(): Connections {
    return this.#usedContext.connections;
  }

  /** Whether its own listener occupies the port. */
  listensOn(transport: Transport, port: number): boolean {
    return this.#held?.transport === transport && this.#held.port === port;
  }

  get id(): number {
    return this.#wanted.id;
  }

  get password(): string {
    return this.#wanted.password;
  }

  get client(): VisitedTunnel['client'] {
    const entry = this.#environment.clients.get(this.#wanted.clientId);
    return { online: this.#environment.online(this.#wanted.clientId), crypt: entry?.wanted.crypt ?? false, compress: entry?.wanted.compress ?? false };
  }

  refusal(type: VisitType): VisitRefusal | undefined {
    const { mode } = this.#wanted;
    if (type !== mode) return { code: 'wrong-type', text: `the tunnel is of type ${mode}: visit it with --type ${mode}` };
    if (!this.#running) return { code: 'tunnel-stopped', text: this.#error || reasons['tunnel-stopped'] };
    this.#visits ??= new Visits();
    if (this.#visits.full) return { code: 'too-many', text: reasons['too-many'] };
    return this.#visits.mayBegin(performance.now()) ? undefined : { code: 'too-often', text: reasons['too-often'] };
  }

  enter(session: VisitorSession): void {
    (this.#visits ??= new Visits()).enter(session);
    this.#environment.changed(this.meter);
  }

  moved(): void {
    this.#environment.changed(this.meter);
  }

  leave(session: VisitorSession): void {
    this.#visits?.leave(session);
    this.#environment.changed(this.meter);
  }

  tooMany(): void {
    this.#usedContext.refused('capacity', undefined);
  }

  /** The client's agent connected or disconnected, or its transport was changed. */
  clientChanged(): void {
    this.#visits?.follow(this.client);
  }

  /** Applies the agent's report on the health of its targets. @param now ms since the epoch */
  onHealth(message: HealthMessage, now: number): void {
    this.#useHealth(afterMessage(this.#health, message, this.#wanted.targets, now));
  }

  /** The part of its agent's report on direct paths that counts; undefined = it has no such paths. */
  believable(reported: DirectBytes): DirectBytes | undefined {
    return this.#usedServer?.believable?.(reported);
  }

  /** Its agent connected or disconnected: discards the last report. */
  forgetHealth(): void {
    if (this.#health) this.#useHealth(undefined);
  }

  #useHealth(health: ReportedHealth | undefined): void {
    const same = sameHealthy(this.#health, health, this.#wanted.targets);
    this.#health = health;
    if (!same) this.#server?.useTargets?.(this.#withHealthyTargets.targets);
    this.#environment.changed(this.meter);
  }

  /** The settings with only the healthy targets. */
  get #withHealthyTargets(): WantedTunnel {
    return { ...this.#wanted, targets: healthyTargets(this.#health, this.#wanted.targets) };
  }

  /** Takes over a connection of a visitor program to a tunnel without a port. */
  onVisitor(socket: ByteSocket): void {
    this.#accepted(socket);
    if (this.#running && this.#usedServer?.onSocket) this.#usedServer.onSocket(socket);
    else socket.destroy(true);
  }

  #accepted(socket: ByteSocket): void {
    this.#environment.visitors.trace?.accepted(socket, { tunnelId: this.#wanted.id, type: this.#wanted.mode });
  }

  onDirect(socket: ByteSocket): void {
    this.#accepted(socket);
    if (!this.#running || !this.#usedServer?.onDirect) {
      socket.destroy(true);
      return;
    }
    this.#usedServer.onDirect(socket).catch((error: unknown) => {
      socket.destroy(true);
      this.#environment.log.error({ err: error, tunnelId: this.#wanted.id }, 'the signaling between a visitor and the agent failed');
    });
  }

  /** Applies new settings; only those that changed have an effect. `held` is a listener bound for it already. */
  async configure(wanted: WantedTunnel, held?: HeldPort): Promise<void> {
    const before = this.#wanted;
    this.#wanted = wanted;
    this.#failures = 0;
    if (wanted.clientId !== before.clientId) this.#health = undefined;
    if (wanted.mode !== before.mode || wanted.password !== before.password) this.#visits?.closeAll('tunnel-changed');
    if (wanted.mode !== before.mode) {
      await this.close();
      this.#server = undefined;
    } else {
      this.#server?.configure(this.#withHealthyTargets);
    }
    if (wanted.clientId !== before.clientId) {
      this.#context?.connections.closeAll();
      this.clientChanged();
    }
    await this.sync(held);
  }

  /** Opens or closes the listener as the settings and the client's state require. */
  async sync(held?: HeldPort): Promise<void> {
    clearTimeout(this.#retry);
    const blocked = this.#wanted.enabled ? this.#environment.blocked(this.#wanted.clientId) : '';
    if (!this.#wanted.enabled || blocked !== '') {
      await held?.close();
      this.#visits?.closeAll('tunnel-stopped', blocked || undefined);
      await this.close();
      this.#error = blocked;
    } else if (held) {
      await this.close();
      this.#open(held);
    } else if (!this.#running || this.#held?.port !== this.#listener?.port || this.#held?.host !== this.#listener?.serverIp) {
      await this.close();
      await this.#bind();
    }
    this.#tell();
  }

  #tell(): void {
    if (this.#running === this.#reported.running && this.#error === this.#reported.error) return;
    this.#reported = { running: this.#running, error: this.#error };
    this.#environment.changed(this.meter);
  }

  /** Frees the port and resets the connections. */
  async close(): Promise<void> {
    clearTimeout(this.#retry);
    await this.closeListener();
    this.#visits?.closeAll('tunnel-stopped');
    this.#context?.connections.closeAll();
    this.#server?.close?.();
  }

  /** Frees the port; open connections stay until they are idle. */
  async drain(): Promise<void> {
    await this.closeListener();
    this.#server?.drain?.();
  }

  /** Frees the port; open connections stay. */
  async closeListener(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    this.#running = false;
    this.#error = '';
    await held?.close();
  }

  /** Where it listens; undefined = nowhere (secret, p2p). */
  get #listener(): PortAddress | undefined {
    const { mode, port, serverIp } = this.#wanted;
    const transport = transportOf(mode);
    return transport && { transport, port, serverIp };
  }

  async #bind(): Promise<void> {
    if (!tunnelModes.has(this.#wanted.mode)) {
      this.#error = `tunnels of type ${this.#wanted.mode} cannot be served`;
      return;
    }
    const listener = this.#listener;
    if (!listener) {
      this.#running = !keyedModes.includes(this.#wanted.mode) || this.#wanted.password !== '';
      if (!this.#running) this.#error = 'it has no password, so visitors cannot connect';
      return;
    }
    const { port, serverIp } = listener;
    try {
      this.#open(await bindHeldPort(this.#environment, listener));
    } catch (error) {
      const wait = Math.min(RETRY.first * 2 ** this.#failures++, RETRY.longest);
      this.#error = listenProblem(error, serverIp || this.#environment.tunnelHost, port);
      this.#environment.log.warn({ tunnelId: this.#wanted.id, port, retryMs: wait }, `a tunnel's listener cannot be opened: ${this.#error}`);
      this.#retry = setTimeout(() => this.#environment.inBackground(() => this.sync()), wait).unref();
    }
  }

  #open(held: HeldPort): void {
    this.#held = held;
    this.#running = true;
    this.#error = '';
    this.#failures = 0;
    if (held.transport === 'udp') this.#usedServer?.onPort?.(held);
    else {
      held.serve((socket) => {
        this.#accepted(socket);
        this.#usedServer?.onSocket?.(socket);
      });
    }
  }

  /** undefined = the engine has no such type of tunnel. */
  get #usedServer(): TunnelServer | undefined {
    return this.#server ??= tunnelModes.get(this.#wanted.mode)?.serve(this.#usedContext, this.#withHealthyTargets);
  }

  get #usedContext(): TunnelContext {
    return this.#context ??= new TunnelContext(this.#environment, this.meter, () => this.#wanted);
  }
}
