// Longer than 300 lines: it is the whole life of a tunnel's listener, whose states depend on each other.
import { keyedModes, type Transport, transportOf } from '../../rules/tunnel-mode.ts';
import type { HealthMessage } from '../../wire/health.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import type { VisitType } from '../../wire/visit-messages.ts';
import type { DirectBytes } from '../limits/direct-traffic.ts';
import { reasons } from '../bridge/reasons.ts';
import type { VisitedTunnel, VisitorSession, VisitRefusal } from '../bridge/visitor-session.ts';
import type { Environment } from '../environment.ts';
import type { ClientTunnel } from '../clients.ts';
import type { Traffic, TunnelState, WantedTunnel } from '../face.ts';
import { afterMessage, healthyTargets, type ReportedHealth, sameHealthy } from '../health/reported-health.ts';
import { keptBytes, Meter, refusalsOf, type StoredBytes, trafficOf } from '../limits/meter.ts';
import { bindHeldPort, type HeldPort, ownedName } from '../ports/reserve-port.ts';
import { listenProblem } from '../ports/listen-error.ts';
import type { PortAddress } from '../ports/port-book.ts';
import type { Connections } from './connections.ts';
import { keptTunnel, withTargets } from './kept-tunnel.ts';
import { tunnelModes } from './registry.ts';
import { TunnelContext } from './tunnel-context.ts';
import type { TunnelServer } from './tunnel-mode.ts';
import { Visits } from './visits.ts';

/** Waits between attempts to open a listener that failed, in ms: doubling from the first to the longest. */
const RETRY = { first: 1000, longest: 30_000 } as const;

/** What most tunnels are, shared by all of them. `running`: it serves, its listener is open, or it needs none. */
const RUNNING: TunnelStatus = { running: true, error: '' };
const STOPPED: TunnelStatus = { running: false, error: '' };
const WITHOUT_PASSWORD: TunnelStatus = { running: false, error: 'it has no password, so visitors cannot connect' };

type TunnelStatus = Pick<TunnelState, 'running' | 'error'>;

/** The parts of a tunnel that listens, or has had a visitor. */
class TunnelParts {
  context: TunnelContext | undefined;
  visits: Visits | undefined;
  server: TunnelServer | undefined;
  held: HeldPort | undefined;
  /** Its UDP port, which another process on this machine has. */
  elsewhere: PortAddress | undefined;
  retry: NodeJS.Timeout | undefined;
  /** Of opening the listener, in a row. */
  failures = 0;
  health: ReportedHealth | undefined;
}

/**
 * Applies a tunnel's settings to its listener. Its methods must not overlap: the engine calls them one after another.
 */
export class TunnelRunner implements VisitedTunnel, ClientTunnel {
  readonly #environment: Environment;
  #wanted: WantedTunnel;
  /** What it has counted, until it has a meter. */
  #counted: Meter | StoredBytes;
  // Made when they are needed: most tunnels of a large installation are idle, and each part takes a hundred bytes or more.
  #parts: TunnelParts | undefined;
  #status = STOPPED;
  /** The status that was last reported. */
  #reported = STOPPED;
  next: ClientTunnel | undefined;
  previous: ClientTunnel | undefined;

  /** @param stored its totals */
  constructor(environment: Environment, wanted: WantedTunnel, stored: StoredBytes) {
    this.#environment = environment;
    this.#wanted = keptTunnel(wanted);
    this.#counted = keptBytes(stored);
  }

  get meter(): Meter {
    if (this.#counted instanceof Meter) return this.#counted;
    return this.#counted = new Meter(this.#environment.ticker, 'tunnel', this.#wanted.id, this.#counted);
  }

  get traffic(): Traffic {
    return trafficOf(this.#counted);
  }

  get wanted(): WantedTunnel {
    return this.#wanted;
  }

  get running(): boolean {
    return this.#status.running;
  }

  /** undefined = its targets are not checked. */
  get health(): ReportedHealth | undefined {
    return this.#parts?.health;
  }

  get state(): TunnelState {
    const { running, error } = this.#status;
    const { connections, rate, inletRate, exportRate, inletBytes, exportBytes } = this.traffic;
    // Named one by one, as in ClientEntry.state.
    return {
      running,
      error,
      connections,
      refusals: refusalsOf(this.#counted),
      rate,
      inletRate,
      exportRate,
      inletBytes,
      exportBytes,
      dropped: this.#parts?.server?.dropped ?? 0,
      visitors: this.#parts?.visits?.states ?? [],
      health: this.health?.state(this.#wanted.targets) ?? null,
    };
  }

  /** Its visitors' connections. */
  get connections(): Connections {
    return this.#usedContext.connections;
  }

  /** Whether its own listener occupies the port, or that of another process for this tunnel. */
  listensOn(transport: Transport, port: number): boolean {
    const held = this.#parts?.held ?? this.#parts?.elsewhere;
    return held?.transport === transport && held.port === port;
  }

  /** Another process on this machine has its UDP port. */
  get elsewhere(): boolean {
    return this.#parts?.elsewhere !== undefined;
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
    if (!this.running) return { code: 'tunnel-stopped', text: this.#status.error || reasons['tunnel-stopped'] };
    const visits = this.#usedVisits;
    if (visits.full) return { code: 'too-many', text: reasons['too-many'] };
    return visits.mayBegin(performance.now()) ? undefined : { code: 'too-often', text: reasons['too-often'] };
  }

  enter(session: VisitorSession): void {
    this.#usedVisits.enter(session);
    this.#environment.changed('tunnel', this.id);
  }

  moved(): void {
    this.#environment.changed('tunnel', this.id);
  }

  leave(session: VisitorSession): void {
    this.#parts?.visits?.leave(session);
    this.#environment.changed('tunnel', this.id);
  }

  tooMany(): void {
    this.#usedContext.refused('capacity', undefined);
  }

  /** The client's agent connected or disconnected, or its transport was changed. */
  clientChanged(): void {
    this.#parts?.visits?.follow(this.client);
  }

  /** Applies the agent's report on the health of its targets. @param now ms since the epoch */
  onHealth(message: HealthMessage, now: number): void {
    this.#useHealth(afterMessage(this.health, message, this.#wanted.targets, now));
  }

  /** The part of its agent's report on direct paths that counts; undefined = it has no such paths. */
  believable(reported: DirectBytes): DirectBytes | undefined {
    return this.#usedServer?.believable?.(reported);
  }

  /** Its agent connected or disconnected: discards the last report. */
  forgetHealth(): void {
    if (this.health) this.#useHealth(undefined);
  }

  #useHealth(health: ReportedHealth | undefined): void {
    const same = sameHealthy(this.health, health, this.#wanted.targets);
    this.#used.health = health;
    if (!same) this.#parts?.server?.useTargets?.(this.#withHealthyTargets.targets);
    this.#environment.changed('tunnel', this.id);
  }

  /** The settings with only the healthy targets. */
  get #withHealthyTargets(): WantedTunnel {
    return withTargets(this.#wanted, healthyTargets(this.health, this.#wanted.targets));
  }

  /** Takes over a connection of a visitor program to a tunnel without a port. */
  onVisitor(socket: ByteSocket): void {
    this.#accepted(socket);
    if (this.running && this.#usedServer?.onSocket) this.#usedServer.onSocket(socket);
    else socket.destroy(true);
  }

  #accepted(socket: ByteSocket): void {
    this.#environment.visitors.trace?.accepted(socket, { tunnelId: this.#wanted.id, type: this.#wanted.mode });
  }

  onDirect(socket: ByteSocket): void {
    this.#accepted(socket);
    if (!this.running || !this.#usedServer?.onDirect) {
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
    this.#wanted = keptTunnel(wanted);
    const parts = this.#parts;
    if (parts) parts.failures = 0;
    if (parts && wanted.clientId !== before.clientId) parts.health = undefined;
    if (wanted.mode !== before.mode || wanted.password !== before.password) this.#parts?.visits?.closeAll('tunnel-changed');
    if (wanted.mode !== before.mode) {
      await this.close();
      if (this.#parts) this.#parts.server = undefined;
    } else {
      this.#parts?.server?.configure(this.#withHealthyTargets);
    }
    if (wanted.clientId !== before.clientId) {
      this.#parts?.context?.connections.closeAll();
      this.clientChanged();
    }
    await this.sync(held);
  }

  /** For a new tunnel, instead of `sync`: most have no listener, and need not wait for any. @returns false = it needs one, so nothing was done */
  startWithoutListener(): boolean {
    const status = this.#statusWithoutListener;
    if (status === undefined) return false;
    this.#status = status;
    this.#tell();
    return true;
  }

  /** What it is if it needs no listener; undefined = it needs one. */
  get #statusWithoutListener(): TunnelStatus | undefined {
    const { enabled, clientId, mode, password } = this.#wanted;
    if (!enabled) return STOPPED;
    const blocked = this.#environment.blocked(clientId);
    if (blocked !== '') return { running: false, error: blocked };
    if (!tunnelModes.has(mode)) return { running: false, error: `tunnels of type ${mode} cannot be served` };
    if (this.#listener) return undefined;
    return keyedModes.includes(mode) && password === '' ? WITHOUT_PASSWORD : RUNNING;
  }

  /** While the server stops, open connections may continue: neither the tunnel nor its client is disabled, expired or gone. */
  get #mayContinue(): boolean {
    return this.#wanted.enabled && this.#environment.clientBlocked(this.#wanted.clientId) === '';
  }

  /** Opens or closes the listener as the settings and the client's state require. */
  async sync(held?: HeldPort): Promise<void> {
    const status = this.#statusWithoutListener;
    if (this.#environment.closing && this.#mayContinue) {
      await held?.close();
    } else if (status?.running === false) {
      await held?.close();
      this.#parts?.visits?.closeAll('tunnel-stopped', status.error || undefined);
      await this.close();
      this.#status = status;
    } else if (held) {
      await this.close();
      this.#open(held);
    } else if (!this.running || !this.#listensAsWanted) {
      await this.close();
      await this.#bind();
    }
    this.#tell();
  }

  #tell(): void {
    const reported = this.#reported;
    this.#reported = this.#status;
    if (this.#status.running === reported.running && this.#status.error === reported.error) return;
    this.#environment.changed('tunnel', this.id);
  }

  /** Frees the port and resets the connections. */
  async close(): Promise<void> {
    clearTimeout(this.#parts?.retry);
    await this.closeListener();
    this.#parts?.visits?.closeAll('tunnel-stopped');
    this.#parts?.context?.connections.closeAll();
    this.#parts?.server?.close?.();
  }

  /** Frees the port; open connections stay until they are idle. */
  async drain(): Promise<void> {
    await this.closeListener();
    this.#parts?.server?.drain?.();
  }

  /** Frees the port; open connections stay. */
  async closeListener(): Promise<void> {
    const { held, elsewhere } = this.#parts ?? {};
    if (this.#parts) this.#parts.held = this.#parts.elsewhere = undefined;
    this.#status = STOPPED;
    if (elsewhere) this.#environment.shared?.owned.release(ownedName(this.#environment, elsewhere));
    await held?.close();
  }

  /** Where it listens; undefined = nowhere (secret, p2p). */
  get #listener(): PortAddress | undefined {
    const { mode, port, serverIp } = this.#wanted;
    const transport = transportOf(mode);
    return transport && { transport, port, serverIp };
  }

  get #listensAsWanted(): boolean {
    const { held, elsewhere } = this.#parts ?? {};
    const listener = this.#listener;
    return (held ?? elsewhere)?.port === listener?.port && (held?.host ?? elsewhere?.serverIp) === listener?.serverIp;
  }

  async #bind(): Promise<void> {
    const listener = this.#listener;
    if (listener === undefined) {
      this.#status = RUNNING;
      return;
    }
    const { port, serverIp } = listener;
    try {
      const held = await this.#bindOrLeave(listener);
      if (held) this.#open(held);
      else this.#status = RUNNING;
    } catch (error) {
      const wait = Math.min(RETRY.first * 2 ** this.#used.failures++, RETRY.longest);
      const problem = listenProblem(error, serverIp || this.#environment.tunnelHost, port);
      this.#status = { running: false, error: problem };
      this.#environment.log.warn({ tunnelId: this.#wanted.id, port, retryMs: wait }, `a tunnel's listener cannot be opened: ${problem}`);
      this.#used.retry = setTimeout(() => this.#environment.inBackground(() => this.sync()), wait).unref();
    }
  }

  /** Binds its port, unless another process on this machine has it: then this one gets it when the other one ends. @throws the system's error */
  async #bindOrLeave(listener: PortAddress): Promise<HeldPort | undefined> {
    const { owned } = this.#environment.shared ?? {};
    if (listener.transport !== 'udp' || !owned) return bindHeldPort(this.#environment, listener);
    const name = ownedName(this.#environment, listener);
    const onGranted = (): void =>
      this.#environment.inBackground(async () => {
        if (this.#parts?.elsewhere !== listener) return; // it has been released since
        this.#parts.elsewhere = undefined;
        await this.#bind();
        this.#tell();
      });
    if (await owned.claim(name, onGranted)) return bindHeldPort(this.#environment, listener, () => owned.release(name));
    this.#used.elsewhere = listener;
    return undefined;
  }

  #open(held: HeldPort): void {
    const parts = this.#used;
    parts.held = held;
    parts.failures = 0;
    this.#status = RUNNING;
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
    return this.#used.server ??= tunnelModes.get(this.#wanted.mode)?.serve(this.#usedContext, this.#withHealthyTargets);
  }

  get #usedContext(): TunnelContext {
    return this.#used.context ??= new TunnelContext(this.#environment, this.meter, () => this.#wanted);
  }

  get #usedVisits(): Visits {
    return this.#used.visits ??= new Visits();
  }

  get #used(): TunnelParts {
    return this.#parts ??= new TunnelParts();
  }
}
