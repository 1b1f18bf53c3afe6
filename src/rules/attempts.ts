import { ChosenKeys } from './chosen-keys.ts';
import { FailureLimit } from './failure-limit.ts';
import { networkOf as networkOfBits } from './ip-address.ts';
import { KnownSources } from './known-sources.ts';
import { Penalties, PENALTY_RULES } from './penalties.ts';

/** From one address ten failures a minute, for whatever names. */
const perAddress = { allowed: 10, windowMs: 60_000, sources: 10_000 };
/** For one name 60 failures a minute; with more it is guarded for the rest of the minute. */
const perName = { allowed: 60, windowMs: 60_000, sources: 10_000 };
/** For a guarded name, three failures a minute from one address that never gave the right secret. */
const perPair = { allowed: 3, windowMs: 60_000, sources: 10_000 };
/** For a guarded name, the failures a minute from all such addresses together. */
const GUARDED_MOST = 600;

/**
 * The credentials that are guessed at and then refused for a while: of a login, the present password where it is changed, of an IP white
 * list, of a client's proxies and hosts, and of secret and p2p tunnels, where somebody asks for one that is in use.
 */
const refused = ['login', 'password', 'ipWhitePassword', 'basic', 'tunnelPassword'] as const;

/** Credentials for which a stranger can give anybody's name: a limit by name alone would let six addresses lock its owner out. */
const givenByStrangers: ReadonlySet<NamedCredential> = new Set(['login', 'ipWhitePassword']);

/** A credential that a caller names with the guess. */
export type NamedCredential = typeof refused[number];

/** What is guessed. Wrong keys of agents, and of the visitors that connect as they do, are not refused but answered more and more slowly. */
export type Credential = NamedCredential | 'vkey';

/** A source that has to wait. Each credential has a count of its own: an agent with an old key keeps nobody from logging in. */
export interface Lockout {
  readonly credential: Credential;
  readonly kind: 'address' | 'name';
  /** The address (of IPv6 its /56 network), or the name that was tried. Of a tunnel password the address, `#` and the tunnel's owner. */
  readonly source: string;
  /** When nothing is held against it any more. */
  readonly until: Date;
}

/** A wrong guess that is worth telling. */
export type Suspicion = { readonly credential: Credential; readonly address: string; readonly name: string } & (
  /** The first for a while from this address. */
  | { readonly news: 'failure' }
  | { readonly news: 'lockout'; readonly lockout: Lockout }
);

/** One guess. It counts until it turns out to be right, so that trying many at once is no way around. */
export interface Attempt {
  /** ms until another may be made; 0 = this one may be looked at. */
  readonly wait: number;
  /** It was a wrong one. */
  failed(): void;
  /** It was a right one, and counts no more. */
  succeeded(): void;
}

/** What counts the failures of one credential. */
interface Limits extends Readonly<Record<Lockout['kind'], FailureLimit>> {
  /** By address and name. */
  readonly pair: FailureLimit;
  readonly known: KnownSources;
}

/**
 * The one place that slows down guessing: by the address it comes from first, and by the name it is for. A name that many addresses guess at
 * is guarded: unknown addresses get few guesses, and those that gave its secret before go on as ever.
 */
export class Attempts {
  readonly #limits: Readonly<Record<NamedCredential, Limits>> = {
    login: newLimits(), password: newLimits(), ipWhitePassword: newLimits(), basic: newLimits(), tunnelPassword: newLimits(),
  };
  /** The passwords that owners choose for their tunnels. */
  readonly chosenKeys = new ChosenKeys();
  readonly #agents = new Penalties();
  readonly #watchers = new Set<(suspicion: Suspicion) => void>();

  /**
   * Begins a guess.
   * @param name whose credential it is to be; cut to 64 characters
   * @param now ms since the epoch
   * @example
   *     const attempt = attempts.begin('ipWhitePassword', caller.address, `client ${id}`, Date.now());
   *     if (attempt.wait > 0) return refused;
   *     if (wrong) { attempt.failed(); return refused; }
   *     attempt.succeeded();
   */
  begin(credential: NamedCredential, address: string, name: string, now: number): Attempt {
    const limits = this.#limits[credential];
    const sources = { address: networkOf(address), name: name.slice(0, 64) };
    const pair = pairOf(sources);
    const wait = Math.max(limits.address.wait(sources.address, now), this.#nameWait(credential, sources, now));
    if (wait === 0) {
      for (const kind of kinds) limits[kind].add(sources[kind], now);
      limits.pair.add(pair, now);
    }
    return {
      wait,
      failed: () => {
        const suspicion = { credential, ...sources };
        for (const kind of kinds) {
          const news = limits[kind].news(sources[kind]);
          if (news === 'waits') this.#tell({ ...suspicion, news: 'lockout', lockout: lockoutOf(credential, kind, sources[kind], now + limits[kind].wait(sources[kind], now)) });
          else if (news === 'first' && kind === 'address') this.#tell({ ...suspicion, news: 'failure' });
        }
      },
      succeeded: () => {
        for (const kind of kinds) limits[kind].takeBack(sources[kind]);
        limits.pair.takeBack(pair);
        limits.known.add(sources.name, sources.address);
      },
    };
  }

  /** ms that guesses for a name have to wait, from this address. */
  #nameWait(credential: NamedCredential, sources: Sources, now: number): number {
    const { name, pair, known } = this.#limits[credential];
    const guarded = name.wait(sources.name, now);
    if (guarded === 0 || !givenByStrangers.has(credential)) return guarded;
    if (known.has(sources.name, sources.address)) return 0;
    return name.failures(sources.name, now) >= GUARDED_MOST ? guarded : pair.wait(pairOf(sources), now);
  }

  /** Makes a whole guess, as `begin` does: `isRight` is asked only when the source may make one. */
  guess(credential: NamedCredential, address: string, name: string, now: number, isRight: () => boolean): 'right' | 'wrong' | 'wait' {
    const attempt = this.begin(credential, address, name, now);
    if (attempt.wait > 0) return 'wait';
    const right = isRight();
    if (right) attempt.succeeded();
    else attempt.failed();
    return right ? 'right' : 'wrong';
  }

  /** Takes the next turn of an address from which agents or visitors offer keys, see {@link Penalties.turn}. @param tried the id of a wrong key, or the address at which the client of a right one was seen last, "" = nowhere @returns ms to wait, Infinity = don't look at its key */
  keyTurn(address: string, now: number, tried: { readonly wrong: string } | { readonly lastSeenAt: string }): number {
    const source = networkOf(address);
    return this.#agents.turn(source, now, 'wrong' in tried ? tried : { known: tried.lastSeenAt !== '' && networkOf(tried.lastSeenAt) === source });
  }

  /** An agent, or a visitor of a secret tunnel, offered a wrong key. @returns false = it had offered the same one before */
  keyFailed(address: string, now: number, keyId: string): boolean {
    const source = networkOf(address);
    const news = this.#agents.fail(source, now, keyId);
    const suspicion = { credential: 'vkey', address: source, name: '' } as const;
    if (news === 'first') this.#tell({ ...suspicion, news: 'failure' });
    else if (news === 'waits') this.#tell({ ...suspicion, news: 'lockout', lockout: lockoutOf('vkey', 'address', source, now + PENALTY_RULES.expiry) });
    return news !== false;
  }

  /** Who has to wait. @param now ms since the epoch */
  lockouts(now: number): Lockout[] {
    return [...refused, 'vkey' as const].flatMap((credential) => this.#lockoutsOf(credential, now));
  }

  /** Lets a source try everything again at once. @returns the lockouts that this ends */
  free({ kind, source }: Pick<Lockout, 'kind' | 'source'>, now: number): Lockout[] {
    const ended = this.lockouts(now).filter((one) => one.kind === kind && one.source === source);
    for (const credential of refused) {
      this.#limits[credential][kind].forget(source);
      this.#limits[credential].pair.forgetAll((pair) => kind === 'address' ? pair.startsWith(`${source} `) : pair.slice(pair.indexOf(' ') + 1) === source);
    }
    if (kind === 'address') this.#agents.forget(source);
    return ended;
  }

  /** Calls `watcher` at once for what is worth telling: twice a minute for an address at most. It must not throw. */
  watch(watcher: (suspicion: Suspicion) => void): void {
    this.#watchers.add(watcher);
  }

  #lockoutsOf(credential: Credential, now: number): Lockout[] {
    if (credential === 'vkey') return this.#agents.waiting(now).map(({ source, until }) => lockoutOf(credential, 'address', source, until));
    return kinds.flatMap((kind) => this.#limits[credential][kind].waiting(now).map(({ source, until }) => lockoutOf(credential, kind, source, until)));
  }

  #tell(suspicion: Suspicion): void {
    for (const watcher of this.#watchers) watcher(suspicion);
  }
}

const kinds = ['address', 'name'] as const;

type Sources = Readonly<Record<Lockout['kind'], string>>;

function newLimits(): Limits {
  return { address: new FailureLimit(perAddress), name: new FailureLimit(perName), pair: new FailureLimit(perPair), known: new KnownSources() };
}

/** No address has a blank in it. */
function pairOf({ address, name }: Sources): string {
  return `${address} ${name}`;
}

function lockoutOf(credential: Credential, kind: Lockout['kind'], source: string, until: number): Lockout {
  return { credential, kind, source, until: new Date(until) };
}

/** One IPv6 caller has a whole network of addresses. */
function networkOf(address: string): string {
  return networkOfBits(address, 56);
}
