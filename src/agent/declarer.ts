import type { Logger } from 'pino';
import type { Declaration, DeclaredEntry } from '../wire/declaration.ts';
import { DECLARED_AT_ONCE, type Declared } from '../wire/declared.ts';
import { type Change, claimsOf, takingOrder } from './claims.ts';
import { logState } from './state-change.ts';

/** An entry that the server refused is declared again after this many ms: the port may be free by then. */
const RETRY_MS = 30_000;

/** The server's answer for an entry. */
export type EntryState = Pick<Declared, 'id' | 'port' | 'error'>;

/** The server's state of an entry in this session. */
interface KnownEntry {
  readonly kind: DeclaredEntry['kind'];
  readonly name: string;
  /** As last declared. */
  entry: DeclaredEntry;
  /** The same as JSON; "" = withdrawn. */
  json: string;
  /** Waiting for the answer. */
  waiting: boolean;
  state: EntryState | undefined;
  /** The unique values (port, password, name) that its record holds. */
  holds: readonly string[];
  /** It holds a value that another entry needs, and needs one that the other entry holds: it is withdrawn and then declared again. */
  conflicting: boolean;
}

/** Callbacks for the owner of the entries. */
export interface DeclarerOptions {
  readonly log: Logger;
  /** The server has created or changed the entry's record. */
  readonly onEstablished?: (entry: DeclaredEntry, state: EntryState) => void;
  /** The session is over: the server has deleted its records. */
  readonly onLost?: () => void;
}

/** "tunnel web": names an entry in the log and everywhere else. */
export function nameOf({ kind, name }: Pick<DeclaredEntry, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}

/**
 * Keeps the server's records in sync with the entries of a configuration file: declares what is new or changed, and withdraws what was removed. Every
 * session starts from nothing, because the server deletes an agent's records when its session ends.
 */
export class Declarer {
  readonly #options: DeclarerOptions;
  #wanted = new Map<string, { readonly entry: DeclaredEntry; readonly json: string }>();
  readonly #known = new Map<string, KnownEntry>();
  /** The entries that may differ from the configuration. */
  readonly #unsettled = new Set<string>();
  #send: ((message: Declaration) => void) | undefined;
  #waiting = 0;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: DeclarerOptions) {
    this.#options = options;
  }

  /** Replaces the wanted entries. */
  set(entries: readonly DeclaredEntry[]): void {
    this.#wanted = new Map(entries.map((entry) => [nameOf(entry), { entry, json: JSON.stringify(entry) }]));
    this.#compare();
  }

  /** A session has begun. */
  connected(send: (message: Declaration) => void): void {
    this.lost();
    this.#send = send;
    this.#compare();
  }

  /** The session is over. */
  lost(): void {
    if (this.#send) this.#options.onLost?.();
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#send = undefined;
    this.#known.clear();
    this.#unsettled.clear();
    this.#waiting = 0;
  }

  /** The server's answer for an entry; undefined = none yet in this session. */
  stateOf(entry: Pick<DeclaredEntry, 'kind' | 'name'>): EntryState | undefined {
    return this.#known.get(nameOf(entry))?.state;
  }

  /** The name of the entry behind a record; undefined = there is none. */
  entryOf(kind: DeclaredEntry['kind'], id: number): string | undefined {
    for (const known of this.#known.values()) if (known.kind === kind && known.state?.id === id) return known.name;
    return undefined;
  }

  /** The server's answer. */
  answered({ kind, name, id, port, error }: Declared): void {
    const key = nameOf({ kind, name });
    const known = this.#known.get(key);
    if (!known?.waiting) return;
    known.waiting = false;
    this.#waiting--;
    const before = known.state;
    known.state = { id, port, error };
    if (error !== '') this.#refused(known, before);
    else if (known.json === '') this.#withdrawn(key, known);
    else this.#established(key, known, known.state);
    this.#next();
  }

  #established(key: string, known: KnownEntry, state: EntryState): void {
    known.holds = claimsOf(known.entry, state.port);
    const wanted = this.#wanted.get(key);
    // The entry has changed again.
    if (wanted?.json !== known.json) return;
    const { entry } = wanted;
    const { kind, name } = entry;
    const { id, port } = state;
    const what = entry.kind === 'tunnel'
      ? `${entry.tunnel.mode}${port === 0 ? '' : ` on port ${port}`}`
      : entry.host.host || `${entry.host.platformPrefix} below ${entry.host.platformDomainId}`;
    const { targets } = entry.kind === 'tunnel' ? entry.tunnel : entry.host;
    logState(
      this.#options.log,
      'info',
      { event: 'established', kind, name, id, port },
      `${key}: ${what}${targets.length === 0 ? '' : ` to ${targets.join(', ')}`} (id ${id})`,
    );
    this.#options.onEstablished?.(entry, state);
  }

  #withdrawn(key: string, { kind, name }: KnownEntry): void {
    this.#known.delete(key);
    logState(this.#options.log, 'info', { event: 'withdrawn', kind, name }, `${key}: withdrawn`);
    if (this.#wanted.has(key)) this.#unsettled.add(key);
  }

  #refused(known: KnownEntry, before: EntryState | undefined): void {
    const { kind, name, state } = known;
    known.json = 'refused';
    if (state?.id === 0) known.holds = [];
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      this.#compare();
    }, RETRY_MS).unref();
    if (!state || before?.error === state.error) return;
    const kept = state.id === 0 ? '' : '; the previous record stays active';
    logState(
      this.#options.log,
      'warn',
      { event: 'refused', kind, name, id: state.id, error: state.error },
      `${nameOf(known)}: the server refuses it: ${state.error}${kept}; trying again every ${RETRY_MS / 1000} s`,
    );
  }

  /** Finds entries that differ from the configuration. Withdrawals come first, since they may free values; then each entry after those whose values it takes over. */
  #compare(): void {
    if (!this.#send) return;
    this.#unsettled.clear();
    const changes = new Map<string, Change>();
    for (const [key, { entry, json }] of this.#wanted) {
      const known = this.#known.get(key);
      if (known?.json !== json) changes.set(key, { holds: known?.holds ?? [], claims: claimsOf(entry) });
    }
    const { withdrawn, order } = takingOrder(changes);
    for (const [key, known] of this.#known) {
      known.conflicting = withdrawn.has(key);
      if (known.conflicting || !this.#wanted.has(key)) this.#unsettled.add(key);
    }
    for (const key of order) this.#unsettled.add(key);
    this.#next();
  }

  #next(): void {
    for (const key of this.#unsettled) {
      if (this.#waiting >= DECLARED_AT_ONCE) return;
      // Wait for its previous answer.
      if (this.#known.get(key)?.waiting) continue;
      this.#unsettled.delete(key);
      this.#declare(key);
    }
  }

  #declare(key: string): void {
    const wanted = this.#wanted.get(key);
    const known = this.#known.get(key);
    if (wanted === undefined || known?.conflicting) {
      if (!known) return;
      known.json = '';
      this.#sendDeclaration(known, { type: 'withdraw', kind: known.kind, name: known.name });
      return;
    }
    const { entry, json } = wanted;
    const { kind, name } = entry;
    const next = known ?? { kind, name, entry, json, waiting: false, state: undefined, holds: [], conflicting: false };
    next.entry = entry;
    next.json = json;
    this.#known.set(key, next);
    this.#sendDeclaration(next, entry.kind === 'tunnel' ? { type: entry.kind, name, tunnel: entry.tunnel } : { type: entry.kind, name, host: entry.host });
  }

  #sendDeclaration(known: KnownEntry, message: Declaration): void {
    known.waiting = true;
    this.#waiting++;
    this.#send?.(message);
  }
}
