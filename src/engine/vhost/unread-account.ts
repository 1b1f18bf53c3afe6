import { NETWORK_BITS } from '../../rules/connection-shares.ts';
import { networkOf } from '../../rules/ip-address.ts';
import { UnreadBudget, type UnreadHolder, type UnreadLedger, type UnreadLimits } from '../../wire/unread-budget.ts';

/** What may be held for a visitor over HTTP/2, in bytes. */
export interface AccountLimits extends UnreadLimits {
  /** Beyond this, requests wait. */
  readonly room: number;
}

const MB = 1024 * 1024;
/** Of one connection. It can't hold more than 128 streams do. */
const OF_CONNECTION: AccountLimits = { tight: 4 * MB, room: 8 * MB, most: 32 * MB };
/** Of all connections of one address. */
const OF_ADDRESS: AccountLimits = { tight: 8 * MB, room: 16 * MB, most: 32 * MB };
/** How often waiting requests are checked, and held bytes are counted for them, in ms. */
const LOOK_MS = 100;
/** How many waiting requests of a connection begin at a time. */
const AT_ONCE = 8;

/**
 * Counts what the server holds for one visitor's HTTP/2 connection: responses that are not read, in their streams from the agent and in the connection itself, and
 * request bodies that a target does not accept. It also counts for the visitor's address.
 */
export class UnreadAccount implements UnreadLedger {
  readonly #address: UnreadAccount | undefined;
  readonly #limits: AccountLimits;
  readonly #holders = new Set<UnreadHolder>();
  readonly #budget: UnreadBudget;
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #countedAt = 0;

  constructor(limits: AccountLimits, address?: UnreadAccount) {
    this.#limits = limits;
    this.#address = address;
    this.#budget = new UnreadBudget(() => this.#holders, limits);
  }

  get tight(): boolean {
    return this.#budget.tight || this.#address?.tight === true;
  }

  /** Another request may begin. */
  get hasRoom(): boolean {
    if (this.#address && !this.#address.hasRoom) return false;
    if (this.#budget.bytes <= this.#limits.room) return true;
    const now = performance.now();
    if (now - this.#countedAt < LOOK_MS / 2) return false;
    this.#countedAt = now;
    this.#budget.count();
    return this.#budget.bytes <= this.#limits.room;
  }

  open(holder: UnreadHolder): void {
    this.#holders.add(holder);
    this.#address?.open(holder);
  }

  add(bytes: number): void {
    this.#budget.add(bytes);
    this.#address?.add(bytes);
  }

  close(holder: UnreadHolder): void {
    this.#holders.delete(holder);
    this.#address?.close(holder);
  }

  /** Calls `begin` once when there is room. @returns a function that cancels the wait */
  wait(begin: () => void): () => void {
    this.#waiting.add(begin);
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return () => this.#leave(begin);
  }

  #look(): void {
    for (const begin of [...this.#waiting].slice(0, AT_ONCE)) {
      if (!this.hasRoom) return;
      this.#leave(begin);
      begin();
    }
  }

  #leave(begin: () => void): void {
    this.#waiting.delete(begin);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** The accounts of the addresses that have HTTP/2 connections now. */
export class UnreadAccounts {
  readonly #byNetwork = new Map<string, { readonly account: UnreadAccount; connections: number }>();

  /**
   * Creates the account of a new connection, with a function to call when the connection has ended.
   * @param address undefined = a trusted proxy's, which carries many visitors, so there is no account for the address
   */
  open(address: string | undefined): { readonly account: UnreadAccount; readonly close: () => void } {
    if (address === undefined) return { account: new UnreadAccount(OF_CONNECTION), close: () => undefined };
    const network = networkOf(address, NETWORK_BITS);
    const entry = this.#byNetwork.get(network) ?? { account: new UnreadAccount(OF_ADDRESS), connections: 0 };
    this.#byNetwork.set(network, entry);
    entry.connections++;
    return {
      account: new UnreadAccount(OF_CONNECTION, entry.account),
      close: () => {
        if (--entry.connections === 0) this.#byNetwork.delete(network);
      },
    };
  }
}
