import { createHash } from 'node:crypto';
import { Pace } from './pace.ts';

/** As many as an agent's configuration file may bring along at once; then one a second. */
const CHOICES = { atOnce: 1000, perSecond: 1 };
/** Own passwords that are remembered of one owner. */
const REMEMBERED = 1000;
/** Owners; beyond it the one that has chosen nothing for longest is forgotten. */
const OWNERS = 10_000;

interface Owner {
  readonly pace: Pace;
  readonly had: Set<string>;
}

/**
 * Paces how many passwords of tunnels an owner tries: one that is accepted tells that nobody else has it, so even that is a guess. Passwords that
 * the owner had before are free, as an agent declares them again whenever it comes back. Forgotten when the server stops.
 */
export class ChosenKeys {
  readonly #owners = new Map<string, Owner>();

  /** @param now ms since the epoch @returns false = the owner has tried too many */
  mayChoose(owner: string, password: string, now: number): boolean {
    const { pace, had } = this.#ownerOf(owner);
    return had.has(digest(password)) || pace.begin(now);
  }

  /** The owner's tunnel has the password now. */
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
