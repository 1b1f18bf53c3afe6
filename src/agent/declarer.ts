import type { Logger } from 'pino';
import { DECLARED_AT_ONCE, type Declaration, type Declared, type DeclaredEntry } from '../wire/declared.ts';
import { type Change, claimsOf, takingOrder } from './claims.ts';
import { tell } from './state-change.ts';

/** An entry that the server refused is declared again after so long, in ms: the port may be free by then. */
const RETRY_MS = 30_000;

/** What the server said of an entry. */
export type EntryState = Pick<Declared, 'id' | 'port' | 'error'>;

/** What the server knows of an entry in this session. */
interface Told {
  readonly kind: DeclaredEntry['kind'];
  readonly name: string;
  /** As it was declared last. */
  entry: DeclaredEntry;
  /** The same as a text; "" = withdrawn. */
  json: string;
  /** Not answered yet. */
  waiting: boolean;
  state: EntryState | undefined;
  /** What its record has, and no other can have beside it. */
  holds: readonly string[];
  /** It holds what another entry is to have, and waits for what that one holds: it is withdrawn, and declared anew. */
  inTheWay: boolean;
}

/** What the owner of the entries hears of. */
export interface DeclarerOptions {
  readonly log: Logger;
  /** The server has made of the entry what it says. */
  readonly onEstablished?: (entry: DeclaredEntry, state: EntryState) => void;
  /** The session is over, and the server knows nothing any more. */
  readonly onLost?: () => void;
}

/** "tunnel web": names an entry in the log and everywhere else. */
export function nameOf({ kind, name }: Pick<DeclaredEntry, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}

/**
 * Keeps the server in line with the entries of a configuration file: tells it what is new, changed or gone, and nothing of the rest. Every
 * session begins anew, for the server forgets what an agent brought along when its session ends.
 */
export class Declarer {
  readonly #options: DeclarerOptions;
  #wanted = new Map<string, { readonly entry: DeclaredEntry; readonly json: string }>();
  readonly #told = new Map<string, Told>();
  /** Those that may not be as they are wanted. */
  readonly #unsettled = new Set<string>();
  #send: ((message: Declaration) => void) | undefined;
  #waiting = 0;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: DeclarerOptions) {
    this.#options = options;
  }

  /** These are wanted from now on, and no others. */
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
    this.#told.clear();
    this.#unsettled.clear();
    this.#waiting = 0;
  }

  /** What the server has said of an entry; undefined = nothing yet in this session. */
  stateOf(entry: Pick<DeclaredEntry, 'kind' | 'name'>): EntryState | undefined {
    return this.#told.get(nameOf(entry))?.state;
  }

  /** The name of the entry that has become this record; undefined = none has. */
  entryOf(kind: DeclaredEntry['kind'], id: number): string | undefined {
    for (const told of this.#told.values()) if (told.kind === kind && told.state?.id === id) return told.name;
    return undefined;
  }

  /** The server's answer. */
  answered({ kind, name, id, port, error }: Declared): void {
    const key = nameOf({ kind, name });
    const told = this.#told.get(key);
    if (!told?.waiting) return;
    told.waiting = false;
    this.#waiting--;
    const before = told.state;
    told.state = { id, port, error };
    if (error !== '') this.#refused(told, before);
    else if (told.json === '') this.#withdrawn(key, told);
    else this.#established(key, told, told.state);
    this.#next();
  }

  #established(key: string, told: Told, state: EntryState): void {
    told.holds = claimsOf(told.entry, state.port);
    const wanted = this.#wanted.get(key);
    // Another version of it is on its way.
    if (wanted?.json !== told.json) return;
    const { entry } = wanted;
    const { kind, name } = entry;
    const { id, port } = state;
    const what = entry.kind === 'tunnel' ? `${entry.tunnel.mode}${port === 0 ? '' : ` on port ${port}`}` : entry.host.host || `${entry.host.platformPrefix} below ${entry.host.platformDomainId}`;
    const { targets } = entry.kind === 'tunnel' ? entry.tunnel : entry.host;
    tell(this.#options.log, 'info', { event: 'established', kind, name, id, port }, `${key}: ${what}${targets.length === 0 ? '' : ` to ${targets.join(', ')}`} (id ${id})`);
    this.#options.onEstablished?.(entry, state);
  }

  #withdrawn(key: string, { kind, name }: Told): void {
    this.#told.delete(key);
    tell(this.#options.log, 'info', { event: 'withdrawn', kind, name }, `${key}: withdrawn`);
    if (this.#wanted.has(key)) this.#unsettled.add(key);
  }

  #refused(told: Told, before: EntryState | undefined): void {
    const { kind, name, state } = told;
    told.json = 'refused';
    if (state?.id === 0) told.holds = [];
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      this.#compare();
    }, RETRY_MS).unref();
    if (!state || before?.error === state.error) return;
    const kept = state.id === 0 ? '' : '; what it was before stays in force';
    tell(this.#options.log, 'warn', { event: 'refused', kind, name, id: state.id, error: state.error },
      `${nameOf(told)}: the server refuses it: ${state.error}${kept}; trying again every ${RETRY_MS / 1000} s`);
  }

  /** Looks for what isn't as it is wanted: what has to go first, since it may stand in the way, and then each after those whose place it takes. */
  #compare(): void {
    if (!this.#send) return;
    this.#unsettled.clear();
    const changes = new Map<string, Change>();
    for (const [key, { entry, json }] of this.#wanted) {
      const told = this.#told.get(key);
      if (told?.json !== json) changes.set(key, { holds: told?.holds ?? [], claims: claimsOf(entry) });
    }
    const { withdrawn, order } = takingOrder(changes);
    for (const [key, told] of this.#told) {
      told.inTheWay = withdrawn.has(key);
      if (told.inTheWay || !this.#wanted.has(key)) this.#unsettled.add(key);
    }
    for (const key of order) this.#unsettled.add(key);
    this.#next();
  }

  #next(): void {
    for (const key of this.#unsettled) {
      if (this.#waiting >= DECLARED_AT_ONCE) return;
      // Its answer comes first.
      if (this.#told.get(key)?.waiting) continue;
      this.#unsettled.delete(key);
      this.#declare(key);
    }
  }

  #declare(key: string): void {
    const wanted = this.#wanted.get(key);
    const told = this.#told.get(key);
    if (wanted === undefined || told?.inTheWay) {
      if (!told) return;
      told.json = '';
      told.inTheWay = false;
      this.#tell(told, { type: 'withdraw', kind: told.kind, name: told.name });
      return;
    }
    const { entry, json } = wanted;
    const { kind, name } = entry;
    const next = told ?? { kind, name, entry, json, waiting: false, state: undefined, holds: [], inTheWay: false };
    next.entry = entry;
    next.json = json;
    this.#told.set(key, next);
    this.#tell(next, entry.kind === 'tunnel' ? { type: entry.kind, name, tunnel: entry.tunnel } : { type: entry.kind, name, host: entry.host });
  }

  #tell(told: Told, message: Declaration): void {
    told.waiting = true;
    this.#waiting++;
    this.#send?.(message);
  }
}
