import ipaddr from 'ipaddr.js';
import { FailureLimit } from './failure-limit.ts';

/** From one address ten failures a minute, whomever they were for. */
const perAddress = { allowed: 10, windowMs: 60_000, sources: 10_000 };
/** For one name more: a stranger must not be able to keep its owner out, while guessing from many addresses is slowed too. */
const perName = { allowed: 60, windowMs: 60_000, sources: 10_000 };

/** A source that has to wait. */
export interface Lockout {
  readonly kind: 'address' | 'name';
  /** The address (of IPv6 its /56 network), or the name that was tried. */
  readonly source: string;
  /** ms since the epoch */
  readonly until: number;
}

/**
 * Slows down the guessing of passwords, by the address it comes from and by the name it is for. An attempt counts from its
 * beginning, so that trying many at once is no way around; a successful one is taken back.
 */
export class Attempts {
  readonly #limits = { address: new FailureLimit(perAddress), name: new FailureLimit(perName) };

  /** @returns ms until another attempt may be made; 0 = this one counts and may be looked at. @param now ms since the epoch */
  begin(address: string, name: string, now: number): number {
    const [where, who] = [networkOf(address), nameKey(name)];
    const wait = Math.max(this.#limits.address.wait(where, now), this.#limits.name.wait(who, now));
    if (wait > 0) return wait;
    this.#limits.address.add(where, now);
    this.#limits.name.add(who, now);
    return 0;
  }

  /** The attempt that began last was a right one. */
  succeeded(address: string, name: string): void {
    this.#limits.address.takeBack(networkOf(address));
    this.#limits.name.takeBack(nameKey(name));
  }

  /** Who has to wait. @param now ms since the epoch */
  lockouts(now: number): Lockout[] {
    return (['address', 'name'] as const).flatMap((kind) =>
      this.#limits[kind].waiting(now).map(({ source, until }) => ({ kind, source, until })));
  }

  /** Lets a source try again at once. @returns false when it didn't have to wait */
  free({ kind, source }: Pick<Lockout, 'kind' | 'source'>): boolean {
    return this.#limits[kind].forget(source);
  }
}

/** What a stranger can make the server remember is bounded. */
function nameKey(name: string): string {
  return name.slice(0, 64);
}

/** One IPv6 caller has a whole network of addresses. */
function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const network = parsed.toByteArray().map((byte, index) => index < 7 ? byte : 0);
  return `${ipaddr.fromByteArray(network).toString()}/56`;
}
