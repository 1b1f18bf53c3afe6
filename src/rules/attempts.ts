import { ChosenKeys } from './chosen-keys.ts';
import { FailureLimit } from './failure-limit.ts';
import { networkOf as networkOfBits } from './ip-address.ts';
import { KnownSources } from './known-sources.ts';
import { Penalties, PENALTY_RULES } from './penalties.ts';

/** Ten failures a minute from one address, for all names together. */
const perAddress = { allowed: 10, windowMs: 60_000, sources: 10_000 };
/** 60 failures a minute for one name. After that, the name is guarded for the rest of the minute. */
const perName = { allowed: 60, windowMs: 60_000, sources: 10_000 };
/** For a guarded name: three failures a minute from one address that never gave the right secret. */
const perPair = { allowed: 3, windowMs: 60_000, sources: 10_000 };
/** For a guarded name: failures a minute from all such addresses together. */
const GUARDED_MOST = 600;

/**
 * Credentials for which further attempts are refused after too many wrong ones: logins, the current password when it is changed, passwords of
 * IP allowlists, passwords of a client's proxies and hosts, passwords of secret and p2p tunnels (choosing one that is in use counts as a guess), and codes
 * that install an agent.
 */
const refused = ['login', 'password', 'ipWhitePassword', 'basic', 'tunnelPassword', 'enrolment'] as const;

/** Credentials for which an attacker can choose any name. With a limit by name alone, six addresses could lock the owner out. */
const namedByAnyone: ReadonlySet<NamedCredential> = new Set(['login', 'ipWhitePassword']);

/** A credential that belongs to a name, which the caller gives with the guess. */
export type NamedCredential = typeof refused[number];

/** All kinds of credentials. */
export const credentials = [...refused, 'vkey'] as const;

/** The kind of credential that is guessed. Wrong keys of agents, and of `adit visit`, are not refused but answered with increasing delays. */
export type Credential = typeof credentials[number];

/** A source that has to wait. Each kind of credential is counted separately: an agent with an old key does not block logins. */
export interface Lockout {
  readonly credential: Credential;
  readonly kind: 'address' | 'name';
  /** The address (for IPv6, its /56 network) or the name. For a tunnel password: the address, `#` and the tunnel's owner. */
  readonly source: string;
  /** When the lockout ends. */
  readonly until: Date;
}

/** A wrong guess to be reported to watchers. */
export type Suspicion =
  & { readonly credential: Credential; readonly address: string; readonly name: string }
  & (
    /** The first wrong guess of this address within the window. */
    | { readonly news: 'failure' }
    | { readonly news: 'lockout'; readonly lockout: Lockout }
  );

/** A wrong guess as servers share it: from an address or its network, for a name, or for a key by its id. */
export interface Failure {
  readonly credential: Credential;
  readonly address: string;
  readonly name: string;
}

/** A source whose lockouts an administrator has ended. */
export type FreedSource = Pick<Lockout, 'kind' | 'source'>;

/** What other servers are to know. */
export interface SharedAttempts {
  readonly failed: (failure: Failure) => void;
  readonly freed: (source: FreedSource) => void;
}

/** One attempt. It counts as a failure until it succeeds, so that parallel attempts don't bypass the limit. */
export interface Attempt {
  /** ms to wait before the next attempt; 0 = check this one now. */
  readonly wait: number;
  /** Reports that the secret was wrong. */
  failed(): void;
  /** Reports that the secret was right; the attempt no longer counts. */
  succeeded(): void;
}

/** The failure counters of one kind of credential. */
interface Limits extends Readonly<Record<Lockout['kind'], FailureLimit>> {
  /** By address and name. */
  readonly pair: FailureLimit;
  readonly known: KnownSources;
}

/**
 * Throttles guessing, first by the source address and then by the name. If many addresses guess at a name, the name is guarded: unknown
 * addresses get few attempts, and addresses that gave its right secret before are not affected.
 */
export class Attempts {
  readonly #limits: Readonly<Record<NamedCredential, Limits>> = {
    login: newLimits(),
    password: newLimits(),
    ipWhitePassword: newLimits(),
    basic: newLimits(),
    tunnelPassword: newLimits(),
    enrolment: newLimits(),
  };
  /** The passwords that owners choose for their tunnels. */
  readonly chosenKeys = new ChosenKeys();
  readonly #agents = new Penalties();
  readonly #watchers = new Set<(suspicion: Suspicion) => void>();
  readonly #others = new Set<SharedAttempts>();

  /**
   * Begins an attempt.
   * @param name the owner of the credential; cut to 64 characters
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
        for (const { failed } of this.#others) failed(suspicion);
        for (const kind of kinds) {
          const news = limits[kind].news(sources[kind]);
          if (news === 'waits') {
            this.#report({ ...suspicion, news: 'lockout', lockout: lockoutOf(credential, kind, sources[kind], now + limits[kind].wait(sources[kind], now)) });
          } else if (news === 'first' && kind === 'address') this.#report({ ...suspicion, news: 'failure' });
        }
      },
      succeeded: () => {
        for (const kind of kinds) limits[kind].takeBack(sources[kind]);
        limits.pair.takeBack(pair);
        limits.known.add(sources.name, sources.address);
      },
    };
  }

  /** ms that attempts for a name from this address have to wait. */
  #nameWait(credential: NamedCredential, sources: Sources, now: number): number {
    const { name, pair, known } = this.#limits[credential];
    const guarded = name.wait(sources.name, now);
    if (guarded === 0 || !namedByAnyone.has(credential)) return guarded;
    if (known.has(sources.name, sources.address)) return 0;
    return name.failures(sources.name, now) >= GUARDED_MOST ? guarded : pair.wait(pairOf(sources), now);
  }

  /** Makes a whole attempt, as `begin` does. Calls `isRight` only if the source doesn't have to wait. */
  guess(credential: NamedCredential, address: string, name: string, now: number, isRight: () => boolean): 'right' | 'wrong' | 'wait' {
    const attempt = this.begin(credential, address, name, now);
    if (attempt.wait > 0) return 'wait';
    const right = isRight();
    if (right) attempt.succeeded();
    else attempt.failed();
    return right ? 'right' : 'wrong';
  }

  /**
   * Queues an attempt with a key, by an agent or a visitor of a secret tunnel; see {@link Penalties.queue}.
   * @param tried the id of a wrong key; for a right key the address at which its client was last seen, "" = nowhere
   * @returns ms to wait; Infinity = don't check the key
   */
  queueKey(address: string, now: number, tried: { readonly wrong: string } | { readonly lastSeenAt: string }): number {
    const source = networkOf(address);
    return this.#agents.queue(source, now, 'wrong' in tried ? tried : { known: tried.lastSeenAt !== '' && networkOf(tried.lastSeenAt) === source });
  }

  /** Reports a wrong key from an agent or a visitor of a secret tunnel. @returns false = the address has offered the same key before */
  keyFailed(address: string, now: number, keyId: string): boolean {
    const source = networkOf(address);
    const news = this.#agents.fail(source, now, keyId);
    if (news !== false) { for (const { failed } of this.#others) failed({ credential: 'vkey', address: source, name: keyId }); }
    const suspicion = { credential: 'vkey', address: source, name: '' } as const;
    if (news === 'first') this.#report({ ...suspicion, news: 'failure' });
    else if (news === 'waits') this.#report({ ...suspicion, news: 'lockout', lockout: lockoutOf('vkey', 'address', source, now + PENALTY_RULES.expiry) });
    return news !== false;
  }

  /** The sources that have to wait. @param now ms since the epoch */
  lockouts(now: number): Lockout[] {
    return [...refused, 'vkey' as const].flatMap((credential) => this.#lockoutsOf(credential, now));
  }

  /** Other servers get every wrong guess of this one from now on. @returns ends this */
  share(others: SharedAttempts): () => void {
    this.#others.add(others);
    return () => this.#others.delete(others);
  }

  /** Another server reports a wrong guess: it counts as if it had been made here, and was reported there. */
  hear({ credential, address, name }: Failure, now: number): void {
    if (credential === 'vkey') {
      this.#agents.fail(address, now, name);
      return;
    }
    const limits = this.#limits[credential];
    const sources = { address, name };
    for (const kind of kinds) limits[kind].add(sources[kind], now);
    limits.pair.add(pairOf(sources), now);
  }

  /** At another server, the lockouts of a source have ended. */
  hearFreed(source: FreedSource, now: number): void {
    this.#free(source, now);
  }

  /** Ends the lockouts of a source. @returns the lockouts that ended */
  free(source: FreedSource, now: number): Lockout[] {
    for (const { freed } of this.#others) freed(source);
    return this.#free(source, now);
  }

  #free({ kind, source }: FreedSource, now: number): Lockout[] {
    const ended = this.lockouts(now).filter((one) => one.kind === kind && one.source === source);
    for (const credential of refused) {
      this.#limits[credential][kind].forget(source);
      this.#limits[credential].pair.forgetAll((pair) => kind === 'address' ? pair.startsWith(`${source} `) : pair.slice(pair.indexOf(' ') + 1) === source);
    }
    if (kind === 'address') this.#agents.forget(source);
    return ended;
  }

  /** Calls `watcher` synchronously for each suspicion, at most twice a minute for one address. It must not throw. */
  watch(watcher: (suspicion: Suspicion) => void): void {
    this.#watchers.add(watcher);
  }

  #lockoutsOf(credential: Credential, now: number): Lockout[] {
    if (credential === 'vkey') return this.#agents.waiting(now).map(({ source, until }) => lockoutOf(credential, 'address', source, until));
    return kinds.flatMap((kind) => this.#limits[credential][kind].waiting(now).map(({ source, until }) => lockoutOf(credential, kind, source, until)));
  }

  #report(suspicion: Suspicion): void {
    for (const watcher of this.#watchers) watcher(suspicion);
  }
}

const kinds = ['address', 'name'] as const;

type Sources = Readonly<Record<Lockout['kind'], string>>;

function newLimits(): Limits {
  return { address: new FailureLimit(perAddress), name: new FailureLimit(perName), pair: new FailureLimit(perPair), known: new KnownSources() };
}

/** An address never contains a space. */
function pairOf({ address, name }: Sources): string {
  return `${address} ${name}`;
}

function lockoutOf(credential: Credential, kind: Lockout['kind'], source: string, until: number): Lockout {
  return { credential, kind, source, until: new Date(until) };
}

/** One caller may own a whole IPv6 network. */
function networkOf(address: string): string {
  return networkOfBits(address, 56);
}
