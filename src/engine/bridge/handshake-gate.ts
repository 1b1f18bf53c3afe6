/** Most unfinished handshakes at once. A stranger's costs a socket and a few KB for up to 5 s. */
export interface GateLimits {
  readonly total: number;
  /** Many agents may stand behind one NAT, each opening its data connections at once. */
  readonly perAddress: number;
}

/** The limits in use. */
export const GATE_LIMITS: GateLimits = { total: 2048, perAddress: 256 };

/** Counts unfinished handshakes, and turns away what is too much. */
export class HandshakeGate {
  readonly #limits: GateLimits;
  readonly #byAddress = new Map<string, number>();
  #total = 0;

  constructor(limits: GateLimits = GATE_LIMITS) {
    this.#limits = limits;
  }

  /** Unfinished handshakes. */
  get size(): number {
    return this.#total;
  }

  /** False = too many; otherwise `leave` must follow. */
  enter(address: string): boolean {
    const ofAddress = this.#byAddress.get(address) ?? 0;
    if (this.#total >= this.#limits.total || ofAddress >= this.#limits.perAddress) return false;
    this.#total++;
    this.#byAddress.set(address, ofAddress + 1);
    return true;
  }

  leave(address: string): void {
    const ofAddress = this.#byAddress.get(address) ?? 0;
    this.#total--;
    if (ofAddress > 1) this.#byAddress.set(address, ofAddress - 1);
    else this.#byAddress.delete(address);
  }
}
