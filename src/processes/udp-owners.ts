import { hash } from 'node:crypto';

/** Who has a port, and who asks for it, the first first. */
interface Claims {
  owner: number | undefined;
  readonly waiting: number[];
}

/** Which process has which of the ports that belong to one process each: those of udp tunnels, and of STUN. */
export class UdpOwners {
  readonly #claims = new Map<string, Claims>();
  readonly #count: number;
  readonly #onGranted: (process: number, name: string) => void;
  #spreading = true;

  /** @param count of processes, which have the numbers from 1 on @param onGranted a process that has asked has the port from now on */
  constructor(count: number, onGranted: (process: number, name: string) => void) {
    this.#count = count;
    this.#onGranted = onGranted;
  }

  /**
   * A process asks for a port. Until all have started, each name is kept for one of them, so that the first does not get all ports.
   * @param now it needs the port for a request, also if it is kept for another one
   * @returns whether it has it; otherwise it asks until {@link release}
   */
  claim(process: number, name: string, now: boolean): boolean {
    const claims = this.#claims.get(name) ?? { owner: undefined, waiting: [] };
    this.#claims.set(name, claims);
    if (claims.owner === undefined && (now || !this.#spreading || process === this.#preferred(name))) claims.owner = process;
    const at = claims.waiting.indexOf(process);
    if (claims.owner === process && at >= 0) claims.waiting.splice(at, 1);
    if (claims.owner !== process && at < 0) claims.waiting.push(process);
    return claims.owner === process;
  }

  /** A process no longer has a port, or no longer asks for it. */
  release(process: number, name: string): void {
    const claims = this.#claims.get(name);
    if (!claims) return;
    const at = claims.waiting.indexOf(process);
    if (at >= 0) claims.waiting.splice(at, 1);
    if (claims.owner === process) claims.owner = undefined;
    this.#grant(name, claims);
  }

  /** All processes have started: ports that are kept for one that does not want them go to those that do. */
  allStarted(): void {
    this.#spreading = false;
    for (const [name, claims] of this.#claims) this.#grant(name, claims);
  }

  /** A process has ended. */
  ended(process: number): void {
    for (const name of [...this.#claims.keys()]) this.release(process, name);
  }

  #grant(name: string, claims: Claims): void {
    if (claims.owner !== undefined || this.#spreading) return;
    claims.owner = claims.waiting.shift();
    if (claims.owner === undefined) this.#claims.delete(name);
    else this.#onGranted(claims.owner, name);
  }

  #preferred(name: string): number {
    return Number.parseInt(hash('sha256', name).slice(0, 8), 16) % this.#count + 1;
  }
}
