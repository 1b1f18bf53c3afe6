import type { HostEntry } from '../host-entry.ts';
import type { TargetConnection } from './target-connection.ts';

/** The connections to targets that one visitor's answered requests left open, for its next ones. */
export class TargetPool {
  readonly #most: number;
  readonly #idleMs: number;
  /** The most recently used one is the last. */
  #idle: TargetConnection[] = [];
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /**
   * @param most maximum idle connections; beyond that, the one that was idle longest is closed
   * @param idleMs idle timeout of each, in ms
   */
  constructor(most: number, idleMs: number) {
    this.#most = most;
    this.#idleMs = idleMs;
  }

  /** Whether a request to a host can use a kept connection. A changed host has a new entry, and needs a new connection. */
  has(entry: HostEntry, address: string): boolean {
    return this.#idle.some((target) => fits(target, entry, address));
  }

  /** Takes the most recently used connection; undefined = none fits. */
  take(entry: HostEntry, address: string): TargetConnection | undefined {
    const at = this.#idle.findLastIndex((target) => fits(target, entry, address));
    if (at < 0) return undefined;
    return at === this.#idle.length - 1 ? this.#idle.pop() : this.#idle.splice(at, 1)[0];
  }

  /** Keeps an idle connection. */
  give(target: TargetConnection): void {
    if (this.#closed) {
      target.close();
      return;
    }
    this.#idle.push(target);
    if (this.#idle.length > this.#most) this.#idle = this.#idle.filter(({ open }) => open);
    if (this.#idle.length > this.#most) this.#idle.shift()?.close();
    this.#timer ??= setTimeout(this.#tidy, this.#idleMs).unref();
  }

  readonly #tidy = (): void => {
    const now = performance.now();
    for (const target of this.#idle) if (now - target.idleSince >= this.#idleMs) target.close();
    this.#idle = this.#idle.filter(({ open }) => open);
    const [oldest] = this.#idle;
    this.#timer = oldest && setTimeout(this.#tidy, Math.max(1, oldest.idleSince + this.#idleMs - now)).unref();
  };

  /** The visitor is gone. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const target of this.#idle.splice(0)) target.close();
  }
}

function fits(target: TargetConnection, entry: HostEntry, address: string): boolean {
  return target.open && target.entry === entry && target.address === address;
}
