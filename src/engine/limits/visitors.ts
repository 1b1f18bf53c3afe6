import { ConnectionShares, type ShareLimits } from '../../rules/connection-shares.ts';
import type { VisitorTrace } from './visitor-trace.ts';

/**
 * Maximum connections of visitors to the whole server. Each may hold a stream's credit (1 MB) if its visitor stops reading, and a
 * file descriptor. Without a limit, anybody could exhaust the server's memory.
 */
export const VISITOR_SHARES: ShareLimits = { total: 50_000, perAddress: 12_500 };

/** Counts the open visitor connections of all tunnels. */
export class Visitors {
  readonly #shares: ConnectionShares;
  readonly #trusts: (address: string) => boolean;
  readonly #waiting = new Set<() => void>();

  /** Follows their connections; undefined = tracing is off. */
  readonly trace: VisitorTrace | undefined;

  /** @param trusts whether an address is a trusted proxy's, to which the limit per address does not apply: it carries many visitors */
  constructor(limits: ShareLimits = VISITOR_SHARES, trusts: (address: string) => boolean = () => false, trace?: VisitorTrace) {
    this.trace = trace;
    this.#shares = new ConnectionShares(limits);
    this.#trusts = trusts;
  }

  get open(): number {
    return this.#shares.size;
  }

  /** Takes one more connection of an address; false = there are too many. Otherwise `leave` must follow. */
  enter(address: string): boolean {
    return this.#shares.enter(this.#counted(address));
  }

  hasRoom(address: string): boolean {
    return this.#shares.hasRoom(this.#counted(address));
  }

  #counted(address: string): string | undefined {
    return this.#trusts(address) ? undefined : address;
  }

  leave(address: string): void {
    this.#shares.leave(this.#counted(address));
    if (this.open > 0) return;
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when no connection is open, after `ms` at the latest. */
  async gone(ms: number): Promise<void> {
    if (this.open === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      this.#waiting.add(done);
      function done(): void {
        clearTimeout(timer);
        resolve();
      }
    });
  }
}
