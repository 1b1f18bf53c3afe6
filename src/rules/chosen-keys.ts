import { createHash } from 'node:crypto';
import { Pace } from './pace.ts';

/** As many at once as an agent's configuration file can declare; then one per second. */
const CHOICES = { atOnce: 1000, perSecond: 1 };
/** Passwords remembered for one owner. */
const REMEMBERED = 1000;
/** Owners remembered; beyond that, the one that has chosen no password for the longest time is forgotten. */
const OWNERS = 10_000;

interface Owner {
  readonly pace: Pace;
  readonly had: Set<string>;
}

/**
 * Limits how many tunnel passwords an owner can try. Even an accepted password reveals that nobody else uses it, so every choice is a guess.
 * Passwords that the owner had before don't count, since an agent declares them again whenever it reconnects. Forgotten when the server stops.
 */
export class ChosenKeys {
  readonly #owners = new Map<string, Owner>();

  /** @param now ms since the epoch @returns false = the owner has tried too many */
  mayChoose(owner: string, password: string, now: number): boolean {
    const { pace, had } = this.#ownerOf(owner);
    return had.has(digest(password)) || pace.begin(now);
  }

  /** Records that a tunnel of the owner has the password. */
  chosen(owner: string, password: string): void {
    const { had } = this.#ownerOf(owner);
    had.add(digest(password));
    if (had.size > REMEMBERED) dropOldest(had);
  }

  #ownerOf(name: string): Owner {
    const owner = this.#owners.get(name) ?? { pace: new Pace(CHOICES), had: new Set() };
    this.#owners.delete(name);
    this.#owners.set(name, owner);
    if (this.#owners.size > OWNERS) dropOldest(this.#owners);
    return owner;
  }
}

function digest(password: string): string {
  return createHash('sha256').update(password).digest('base64url');
}

function dropOldest(entries: Map<string, unknown> | Set<string>): void {
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    return;
  }
}
