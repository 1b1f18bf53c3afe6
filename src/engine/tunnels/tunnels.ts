import { keyedModes, transportOf } from '../../rules/tunnel-mode.ts';
import type { PortRange } from '../../rules/port-range.ts';
import { keyIdOf } from '../../wire/handshake.ts';
import type { Clients } from '../clients.ts';
import type { PortLease, PortRequest, WantedTunnel } from '../face.ts';
import { Meter, NO_BYTES, type StoredBytes, type Ticker } from '../limits/meter.ts';
import { PortBook } from '../ports/port-book.ts';
import { PortLeases } from '../ports/port-leases.ts';
import { PortUnavailableError } from '../ports/port-unavailable.ts';
import { bindFreePort, bindPort, bindVisitorPort, type PortReserver } from '../ports/reserve-port.ts';
import { type RunnerContext, TunnelRunner } from './tunnel-runner.ts';

/** What the tunnels need of the engine. */
export interface TunnelsContext extends Omit<RunnerContext, 'client' | 'refused' | 'bindVisitorPort'> {
  readonly ticker: Ticker;
  readonly clients: Clients;
  /** Ports that tunnels may use; empty = all. */
  readonly allowPorts: readonly PortRange[];
  /** Does something after all changes that were asked for earlier. */
  inTurn(work: () => Promise<unknown>): Promise<unknown>;
}

/** All tunnels, their ports and passwords. What changes them must not overlap: the engine calls one after another. */
export class Tunnels {
  readonly #context: TunnelsContext;
  readonly #runnerContext: RunnerContext;
  readonly #reserver: PortReserver;
  readonly #leases = new PortLeases();
  readonly #runners = new Map<number, TunnelRunner>();
  /** Those that visitors prove a password for, by its key id. */
  readonly #passwords = new Map<string, TunnelRunner>();

  constructor(context: TunnelsContext) {
    const { sockets, clients, log, allowPorts } = context;
    this.#context = context;
    this.#reserver = { sockets, book: new PortBook(allowPorts), log };
    this.#runnerContext = {
      ...context,
      client: (clientId) => {
        const entry = clients.get(clientId);
        return { online: entry?.session !== undefined, crypt: entry?.wanted.crypt ?? false, compress: entry?.wanted.compress ?? false };
      },
      refused: (clientId, cause) => clients.get(clientId)?.meter.countRefusal(cause),
      bindVisitorPort: (serverIp) => bindVisitorPort(this.#reserver, serverIp),
    };
  }

  all(): IterableIterator<TunnelRunner> {
    return this.#runners.values();
  }

  get(id: number): TunnelRunner | undefined {
    return this.#runners.get(id);
  }

  /** The tunnel whose password has this key id (secret, p2p). */
  visited(keyId: string): TunnelRunner | undefined {
    return this.#passwords.get(keyId);
  }

  /** Takes a tunnel; `sync` opens its listener. @param stored what it has moved before */
  add(wanted: WantedTunnel, stored: StoredBytes): TunnelRunner {
    const runner = new TunnelRunner(this.#runnerContext, new Meter(this.#context.ticker, 'tunnel', wanted.id, stored), wanted);
    this.#runners.set(wanted.id, runner);
    this.#link(runner);
    return runner;
  }

  /** Makes a tunnel or changes it. @param lease its port, when the listener has to be a new one */
  async apply(wanted: WantedTunnel, lease: PortLease | undefined): Promise<void> {
    const held = lease && this.#leases.take(lease.id);
    const runner = this.#runners.get(wanted.id);
    if (!runner) {
      await this.add(wanted, NO_BYTES).sync(held);
      return;
    }
    this.#unlink(runner);
    await runner.configure(wanted, held);
    this.#link(runner);
  }

  async remove(id: number): Promise<void> {
    const runner = this.#runners.get(id);
    if (!runner) return;
    this.#unlink(runner);
    this.#runners.delete(id);
    await runner.close();
    this.#context.ticker.forget(runner.meter);
  }

  /**
   * Binds a port for a tunnel to be.
   * @throws {PortUnavailableError}
   */
  async reservePort({ mode, port, serverIp, replaces }: PortRequest): Promise<PortLease> {
    const transport = transportOf(mode);
    if (transport === undefined) throw new PortUnavailableError(`a tunnel of type ${mode} listens on no port`);
    const address = { transport, port, serverIp };
    if (port === 0) return this.#lease(await bindFreePort(this.#reserver, address));
    this.#reserver.book.check(address, replaces);
    const own = replaces === undefined ? undefined : this.#runners.get(replaces);
    if (!own?.listensOn(transport, port)) return this.#lease(await bindPort(this.#reserver, address));
    if (own.wanted.serverIp === serverIp) return { id: this.#leases.add({ port: undefined, restore: () => Promise.resolve() }), port };
    // Its own listener stands in the way: it goes first, and comes back when nothing becomes of the change.
    await own.closeListener();
    try {
      return this.#lease(await bindPort(this.#reserver, address), own);
    } catch (error) {
      await own.sync();
      throw error;
    }
  }

  #lease(held: Awaited<ReturnType<typeof bindPort>>, replaced?: TunnelRunner): PortLease {
    const restore = async (): Promise<void> => { await this.#context.inTurn(async () => replaced?.sync()); };
    return { id: this.#leases.add({ port: held, restore }), port: held.port };
  }

  /** Gives the port of a lease back; nothing happens when a tunnel has taken it over. */
  releasePort(leaseId: number): Promise<void> {
    return this.#leases.release(leaseId);
  }

  /** Brings every listener in line with what is wanted. */
  sync(): Promise<unknown> {
    return this.#all((runner) => runner.sync());
  }

  /** Frees the ports; open connections live on as long as they carry something. */
  drain(): Promise<unknown> {
    return this.#all((runner) => runner.drain());
  }

  /** Frees the ports and resets the connections. */
  close(): Promise<unknown> {
    return Promise.all([this.#leases.close(), this.#all((runner) => runner.close())]);
  }

  #all(work: (runner: TunnelRunner) => Promise<void>): Promise<unknown> {
    return Promise.all(Array.from(this.#runners.values(), work));
  }

  #link(runner: TunnelRunner): void {
    const { id, clientId, mode, enabled, port, serverIp, password } = runner.wanted;
    const transport = transportOf(mode);
    if (transport && port !== 0) this.#reserver.book.claim({ tunnelId: id, transport, port, serverIp }, !enabled);
    if (keyedModes.includes(mode) && password !== '') this.#passwords.set(keyIdOf(password), runner);
    this.#context.clients.get(clientId)?.tunnels.add(runner);
  }

  #unlink(runner: TunnelRunner): void {
    const { id, clientId, port, password } = runner.wanted;
    this.#reserver.book.unclaim(id, port);
    const keyId = keyIdOf(password);
    if (this.#passwords.get(keyId) === runner) this.#passwords.delete(keyId);
    this.#context.clients.get(clientId)?.tunnels.delete(runner);
  }
}
