import { setImmediate as nextIteration } from 'node:timers/promises';
import { IdTable } from '../../rules/id-table.ts';
import { keyedModes, transportOf } from '../../rules/tunnel-mode.ts';
import { KeyIndex } from '../key-index.ts';
import type { Environment } from '../environment.ts';
import type { PortLease, PortRequest, WantedTunnel } from '../face.ts';
import { NO_BYTES, type StoredBytes } from '../limits/meter.ts';
import { PortLeases } from '../ports/port-leases.ts';
import { PortUnavailableError } from '../ports/port-book.ts';
import { bindFreePort, bindPort } from '../ports/reserve-port.ts';
import { TunnelRunner } from './tunnel-runner.ts';

/** Tunnels that open or close at the same time: what they wait for takes memory. */
const TOGETHER = 200;
/** Tunnels after which the event loop goes on, even if there is nothing to wait for. */
const PER_TURN = 5000;

/** All tunnels, their ports and passwords. Methods that change them must not overlap: the engine calls one after another. */
export class Tunnels {
  readonly #environment: Environment;
  readonly #leases = new PortLeases();
  readonly #runners = new IdTable<TunnelRunner>();
  /** Tunnels with a password for visitors, by its key id. */
  readonly #passwords = new KeyIndex<TunnelRunner>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  all(): Generator<TunnelRunner> {
    return this.#runners.values();
  }

  get(id: number): TunnelRunner | undefined {
    return this.#runners.get(id);
  }

  /** The tunnel whose password has this key id (secret, p2p). */
  visited(keyId: string): TunnelRunner | undefined {
    return this.#passwords.get(keyId);
  }

  /** Adds a tunnel; `sync` opens its listener. @param stored its totals */
  add(wanted: WantedTunnel, stored: StoredBytes): TunnelRunner {
    const runner = new TunnelRunner(this.#environment, wanted, stored);
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
  }

  /**
   * Binds a port for a tunnel that doesn't exist yet.
   * @throws {PortUnavailableError}
   */
  async reservePort({ mode, port, serverIp, replaces }: PortRequest): Promise<PortLease> {
    const transport = transportOf(mode);
    if (transport === undefined) throw new PortUnavailableError(`a tunnel of type ${mode} listens on no port`);
    const address = { transport, port, serverIp };
    if (port === 0) return this.#lease(await bindFreePort(this.#environment, address));
    this.#environment.book.check(address, replaces);
    const own = replaces === undefined ? undefined : this.#runners.get(replaces);
    if (!own?.listensOn(transport, port)) return this.#lease(await bindPort(this.#environment, address));
    // Another process closes and opens the listener when the change is applied.
    if (own.wanted.serverIp === serverIp || own.elsewhere) return { id: this.#leases.add({ port: undefined, restore: () => Promise.resolve() }), port };
    // Its own listener occupies the port: close it first, and open it again if the change fails.
    await own.closeListener();
    try {
      return this.#lease(await bindPort(this.#environment, address), own);
    } catch (error) {
      await own.sync();
      throw error;
    }
  }

  #lease(held: Awaited<ReturnType<typeof bindPort>>, replaced?: TunnelRunner): PortLease {
    const restore = async (): Promise<void> => {
      await this.#environment.inOrder(async () => replaced?.sync());
    };
    return { id: this.#leases.add({ port: held, restore }), port: held.port };
  }

  /** Releases the port of a lease; does nothing if a tunnel has taken it over. */
  releasePort(leaseId: number): Promise<void> {
    return this.#leases.release(leaseId);
  }

  /** Opens the listeners of tunnels, after all tunnels were added. */
  open(runners: Iterable<TunnelRunner>): Promise<void> {
    return this.#each(runners, (runner) => runner.sync());
  }

  /** Opens the listeners that the settings require, after all tunnels were added. */
  start(): Promise<void> {
    return this.#all((runner) => runner.startWithoutListener() ? undefined : runner.sync());
  }

  /** Frees the ports; open connections stay until they are idle. */
  drain(): Promise<unknown> {
    return this.#all((runner) => runner.drain());
  }

  /** Frees the ports and resets the connections. */
  close(): Promise<unknown> {
    return Promise.all([this.#leases.close(), this.#all((runner) => runner.close())]);
  }

  /** @param work returns undefined if there is nothing to wait for */
  #all(work: (runner: TunnelRunner) => Promise<void> | undefined): Promise<void> {
    return this.#each(this.#runners.values(), work);
  }

  async #each(runners: Iterable<TunnelRunner>, work: (runner: TunnelRunner) => Promise<void> | undefined): Promise<void> {
    let together: Array<Promise<void>> = [];
    let done = 0;
    for (const runner of runners) {
      if (++done % PER_TURN === 0) await nextIteration();
      const waiting = work(runner);
      if (waiting === undefined || together.push(waiting) < TOGETHER) continue;
      await Promise.all(together);
      together = [];
    }
    await Promise.all(together);
  }

  #link(runner: TunnelRunner): void {
    const { clientId, mode, port, password } = runner.wanted;
    if (transportOf(mode) && port !== 0) this.#environment.book.claim(runner.wanted);
    if (keyedModes.includes(mode) && password !== '') this.#passwords.set(password, runner);
    this.#environment.clients.get(clientId)?.addTunnel(runner);
  }

  #unlink(runner: TunnelRunner): void {
    const { id, clientId, port, password } = runner.wanted;
    this.#environment.book.unclaim(id, port);
    this.#passwords.delete(password, runner);
    this.#environment.clients.get(clientId)?.removeTunnel(runner);
  }
}
