import { type ChildProcess, fork } from 'node:child_process';
import process from 'node:process';
import type { Logger } from 'pino';
import { ownFlags } from '../own-program.ts';
import { notifyServiceManager } from '../service-manager.ts';
import type { Settings } from '../settings/settings.ts';
import { SettingsError } from '../settings/settings-error.ts';
import { stopSignal } from '../stop-signal.ts';
import { type ProcessMessage, processMessageSchema, type Ready, type SupervisorMessage } from './messages.ts';
import { NUMBER_VARIABLE } from './own-process.ts';
import { PortHandles } from './port-handles.ts';
import { UdpOwners } from './udp-owners.ts';

/** Waits before a process that has ended is started again, in ms: doubling from the first to the longest, unless it has run for a while. */
const RESTART = { first: 1000, longest: 30_000, stable: 60_000 } as const;

/** The settings of several processes. */
type ProcessSettings = Pick<Settings, 'processes' | 'databaseUrl' | 'nodeLinks' | 'linkPort' | 'processHttpPort'>;

/** @throws {SettingsError} if several processes can't run with these settings */
function check({ processes, databaseUrl, nodeLinks }: ProcessSettings): void {
  if (databaseUrl === '') {
    throw new SettingsError([`processes: ${processes} processes need a PostgreSQL database, which they have in common: set database_url, or processes to 1`]);
  }
  if (nodeLinks === 'plain') {
    throw new SettingsError([
      'node_links: several processes share bridge_port, on which servers with plain links reach each other: set node_links to tls, or processes to 1',
    ]);
  }
}

/**
 * Runs several server processes, which are nodes of one installation on the same ports, and starts one that has ended again. SIGHUP goes to all of them. SIGTERM or SIGINT drains them,
 * and a second signal ends them immediately.
 * @returns the exit code, when all have ended @throws {SettingsError} if several can't run with these settings
 */
export async function runProcesses(settings: ProcessSettings, log: Logger): Promise<number> {
  check(settings);
  return new Processes(settings, log).run();
}

/** The processes, and what they have in common. */
class Processes {
  readonly #count: number;
  readonly #log: Logger;
  readonly #handles: PortHandles;
  readonly #udp: UdpOwners;
  readonly #running = new Map<number, ChildProcess>();
  readonly #restarts = new Map<number, { timer: NodeJS.Timeout | undefined; wait: number }>();
  /** When each process last gave a sign of life, by performance.now(). */
  readonly #aliveAt = new Map<number, number>();
  #started = false;
  #stopping = false;
  #code = 0;
  #onAllEnded: () => void = () => undefined;

  constructor({ processes: count, linkPort, processHttpPort }: ProcessSettings, log: Logger) {
    this.#count = count;
    this.#handles = new PortHandles(
      [linkPort, processHttpPort].filter(Boolean).flatMap((first) => Array.from({ length: count }, (_, index) => Number(first) + index)),
    );
    this.#log = log;
    this.#udp = new UdpOwners(count, (number, name) => this.#send(this.#running.get(number), { type: 'granted', name }));
  }

  /** Starts the first process alone, which creates what all of them need, then the others, and keeps them running. @returns the exit code */
  async run(): Promise<number> {
    const allEnded = new Promise<void>((resolve) => {
      this.#onAllEnded = resolve;
    });
    void stopSignal(this.#log).then(() => this.#stop());
    process.on('SIGHUP', () => {
      for (const child of this.#running.values()) child.kill('SIGHUP');
    });
    const first = await this.#start(1);
    const others = this.#stopping ? [] : await Promise.all(Array.from({ length: this.#count - 1 }, (_, index) => this.#start(index + 2)));
    if (first && !this.#stopping) {
      this.#started = true;
      this.#udp.allStarted();
      process.stdout.write(`${first.text}${[first, ...others].map((each) => each ? `${each.line}\n` : '').join('')}`);
      const notifyStopping = notifyServiceManager(process.env, this.#log);
      const watch = this.#watch(process.env['WATCHDOG_USEC']);
      await allEnded;
      clearInterval(watch);
      notifyStopping();
    } else await allEnded;
    return this.#code;
  }

  /** Starts a process. @returns what it says when it is ready; undefined = it has ended before */
  #start(number: number): Promise<Ready | undefined> {
    const { NOTIFY_SOCKET: _, ...environment } = process.env; // this process speaks for all of them
    const child = fork(process.argv[1] ?? '', process.argv.slice(2), {
      env: { ...environment, [NUMBER_VARIABLE]: String(number) },
      execArgv: [...ownFlags()],
    });
    const began = performance.now();
    this.#running.set(number, child);
    this.#aliveAt.set(number, began);
    return new Promise((resolve) => {
      child.on('message', (message) => {
        const parsed = processMessageSchema.parse(message);
        if (parsed.type === 'ready') resolve(parsed);
        else this.#onMessage(number, child, parsed);
      });
      // A message to a process that has just died.
      child.on('error', (error) => this.#log.debug({ err: error, process: number }, 'a message did not reach a server process'));
      child.once('exit', (code, signal) => {
        resolve(undefined);
        this.#running.delete(number);
        this.#handles.ended(number);
        this.#udp.ended(number);
        this.#onEnded(number, code ?? 1, signal ?? `exit code ${code}`, performance.now() - began);
      });
    });
  }

  #onMessage(number: number, child: ChildProcess, message: Exclude<ProcessMessage, Ready>): void {
    switch (message.type) {
      case 'share': {
        const shared = this.#handles.share(number, message);
        const handle = 'handle' in shared ? shared.handle : undefined;
        this.#send(child, { type: 'shared', id: message.id, problem: 'problem' in shared ? shared.problem : '' }, handle);
        break;
      }
      case 'unshare':
        this.#handles.unshare(number, message);
        break;
      case 'claim':
        this.#send(child, { type: 'claimed', id: message.id, owned: this.#udp.claim(number, message.name, message.now) });
        break;
      case 'release':
        this.#udp.release(number, message.name);
        break;
      case 'alive':
        this.#aliveAt.set(number, performance.now());
    }
  }

  /** @param handle sent with the message: Node's types do not know bare handles, which it sends like servers */
  #send(child: ChildProcess | undefined, message: SupervisorMessage, handle?: object): void {
    if (!child?.connected) return;
    const send: unknown = Reflect.get(child, 'send');
    if (typeof send === 'function') Reflect.apply(send, child, handle === undefined ? [message] : [message, handle]);
  }

  #onEnded(number: number, code: number, how: string, ranMs: number): void {
    if (!this.#stopping && this.#started) {
      const before = this.#restarts.get(number)?.wait ?? 0;
      const wait = before === 0 || ranMs >= RESTART.stable ? RESTART.first : Math.min(before * 2, RESTART.longest);
      this.#log.error({ process: number, how, restartMs: wait }, 'a server process has ended: it is started again');
      this.#restarts.set(number, { wait, timer: setTimeout(() => void this.#restart(number), wait) });
      return;
    }
    // It may not have said why, if it was killed.
    if (code !== 0) {
      this.#log.error({ process: number, how }, `a server process ${this.#started ? 'was not stopped in an orderly way' : 'could not start: all of them end'}`);
    }
    if (this.#code === 0) this.#code = code;
    this.#stop();
  }

  async #restart(number: number): Promise<void> {
    const ready = await this.#start(number);
    if (ready) process.stdout.write(`${ready.line}\n`);
  }

  /** Drains and ends all processes. */
  #stop(): void {
    if (!this.#stopping) {
      this.#stopping = true;
      for (const { timer } of this.#restarts.values()) clearTimeout(timer);
      for (const child of this.#running.values()) this.#send(child, { type: 'stop' });
    }
    if (this.#running.size === 0) this.#onAllEnded();
  }

  /** Kills a process whose event loop is stuck, as systemd does with a single one. @param microseconds of silence; undefined = not wanted */
  #watch(microseconds: string | undefined): NodeJS.Timeout | undefined {
    if (microseconds === undefined) return undefined;
    const longest = Number(microseconds) / 1000;
    return setInterval(() => {
      for (const [number, child] of this.#running) {
        if (performance.now() - (this.#aliveAt.get(number) ?? 0) <= longest) continue;
        this.#log.error({ process: number }, 'a server process does not respond');
        child.kill('SIGKILL');
      }
    }, longest / 3).unref();
  }
}
