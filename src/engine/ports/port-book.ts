import { isIP } from 'node:net';
import { IdTable } from '../../rules/id-table.ts';
import { allowsPort, type PortRange } from '../../rules/port-range.ts';
import { type Transport, transportOf } from '../../rules/tunnel-mode.ts';

/** A tunnel's right to a port, whether its listener is open at the moment or not. */
export interface PortClaim {
  /** The tunnel's. */
  readonly id: number;
  readonly mode: string;
  /** False = the tunnel is stopped: the port can be used, but is assigned only if there are no others. */
  readonly enabled: boolean;
  readonly port: number;
  readonly serverIp: string;
}

/** Where a tunnel listens. The same number may be used for TCP and for UDP (contract 4.4). */
export interface PortAddress {
  readonly transport: Transport;
  readonly port: number;
  /** "" = all addresses. */
  readonly serverIp: string;
}

/** The ports for "any free port" when the settings restrict nothing (contract 4.4). */
const UNRESTRICTED: readonly PortRange[] = [{ from: 1024, to: 65534 }];

const WILDCARDS = new Set(['', '0.0.0.0', '::']);

function overlap(a: string, b: string): boolean {
  return a === b || WILDCARDS.has(a) || WILDCARDS.has(b);
}

/** Which ports may be used and which are reserved (contract 4.4). Independent of sockets. */
export class PortBook {
  readonly #allowed: readonly PortRange[];
  /** By port: the claim, or if there are several, all of them by tunnel. */
  readonly #claims = new IdTable<PortClaim | Map<number, PortClaim>>();

  /** @param allowed empty = every port */
  constructor(allowed: readonly PortRange[]) {
    this.#allowed = allowed;
  }

  /** Only some ports may be used. */
  get restricted(): boolean {
    return this.#allowed.length > 0;
  }

  claim(claim: PortClaim): void {
    const known = this.#claims.get(claim.port);
    if (known instanceof Map) known.set(claim.id, claim);
    else if (known === undefined || known.id === claim.id) this.#claims.set(claim.port, claim);
    else this.#claims.set(claim.port, new Map([[known.id, known], [claim.id, claim]]));
  }

  unclaim(tunnelId: number, port: number): void {
    const known = this.#claims.get(port);
    if (known instanceof Map) {
      known.delete(tunnelId);
      if (known.size === 0) this.#claims.delete(port);
    } else if (known?.id === tunnelId) this.#claims.delete(port);
  }

  /** The other enabled tunnel than `exceptTunnel` that holds the port on an overlapping address. */
  holder(address: PortAddress, exceptTunnel?: number): number | undefined {
    return this.#holder(address, true, exceptTunnel);
  }

  /**
   * Checks what can be known without binding.
   * @throws {PortUnavailableError}
   */
  check(address: PortAddress, exceptTunnel?: number): void {
    const { port } = address;
    checkAddress(address.serverIp);
    if (!Number.isInteger(port) || port < 1 || port > 65535) throw new PortUnavailableError(`port ${port} is not between 1 and 65535`);
    if (!allowsPort(this.#allowed, port)) throw new PortUnavailableError(`port ${port} is not among the allowed ports`);
    const holder = this.holder(address, exceptTunnel);
    if (holder !== undefined) throw new PortUnavailableError(`port ${port} is held by another tunnel`, { holder });
  }

  /** Each allowed port that no tunnel holds, once, from a random one on; those of stopped tunnels come last. */
  *candidates(transport: Transport, serverIp: string, random: () => number): Generator<number> {
    const ranges = this.#allowed.length > 0 ? this.#allowed : UNRESTRICTED;
    const total = ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    const start = Math.floor(random() * total);
    const resting: number[] = [];
    for (let step = 0; step < total; step++) {
      const address = { transport, port: nth(ranges, (start + step) % total), serverIp };
      if (this.holder(address) !== undefined) continue;
      if (this.#holder(address, false) === undefined) yield address.port;
      else resting.push(address.port);
    }
    yield* resting;
  }

  /** @param enabled among the tunnels that are, or among the stopped ones */
  #holder({ transport, port, serverIp }: PortAddress, enabled: boolean, exceptTunnel?: number): number | undefined {
    const known = this.#claims.get(port);
    if (known === undefined) return undefined;
    for (const claim of known instanceof Map ? known.values() : [known]) {
      if (claim.enabled !== enabled || claim.id === exceptTunnel || transportOf(claim.mode) !== transport) continue;
      if (overlap(claim.serverIp, serverIp)) return claim.id;
    }
    return undefined;
  }
}

function nth(ranges: readonly PortRange[], index: number): number {
  let left = index;
  for (const { from, to } of ranges) {
    const size = to - from + 1;
    if (left < size) return from + left;
    left -= size;
  }
  throw new RangeError('index beyond the ranges');
}

/** @throws {PortUnavailableError} for a server address that is no IP address */
export function checkAddress(serverIp: string): void {
  if (serverIp !== '' && isIP(serverIp) === 0) throw new PortUnavailableError(`server address ${JSON.stringify(serverIp)} is not an IP address`);
}

/** A port that is occupied, outside `allowPorts` or on an address that this machine lacks; the message is for the operator. */
export class PortUnavailableError extends Error {
  override readonly name = 'PortUnavailableError';
  /** The tunnel that uses the port; null = another program uses it; absent = not in use. */
  readonly holder: number | null | undefined;

  constructor(message: string, { holder, cause }: { readonly holder?: number | null; readonly cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.holder = holder;
  }
}
