import type { Troubles } from '../../engine/face.ts';
import type { Caller } from '../../rules/caller.ts';
import type { ClientTroubles } from '../../store/hot/problem-lists.ts';
import { certificateProblems, isBroken, type Problem } from './codes.ts';
import { type BoardParts, expiryMs, type Range, type Scope, sourcesOf } from './sources.ts';

/** A range of the problems of a caller, and how many there are. */
export interface ProblemPage {
  readonly rows: readonly Problem[];
  readonly total: number;
  /** Those because of which visitors are refused now. */
  readonly broken: number;
}

/** The records with problems that only the engine knows, for the filters and orders of lists. */
interface Troubled {
  readonly clients: ClientTroubles;
  readonly tunnels: readonly number[];
  readonly hosts: readonly number[];
}

/** A page is read again after this many ms, however many callers want it. */
const pageMs = 2000;
/** The engine is asked again for its troubles after this many ms. */
const troublesMs = 10_000;
/** Maximum number of pages that are kept. */
const mostPages = 64;

/** Finds what is wrong. Callers with the same records share one reading within {@link pageMs}, so that many open dashboards cost as much as one. */
export class ProblemBoard {
  readonly #parts: BoardParts;
  readonly #pages = new Map<string, Kept<ProblemPage>>();
  #troubles: Kept<Troubles> | undefined;

  constructor(parts: BoardParts) {
    this.#parts = parts;
  }

  /** A range of the problems of the caller's records, those first because of which visitors are refused. At most {@link pageMs} old. */
  page(caller: Caller, range: Range): Promise<ProblemPage> {
    const scope = scopeOf(caller);
    const key = JSON.stringify([scope, range]);
    const kept = this.#pages.get(key);
    if (kept?.isFresh(this.#parts.now())) return kept.value;
    this.#pages.delete(key);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size >= mostPages && oldest !== undefined) this.#pages.delete(oldest);
    const page = new Kept(this.#read(scope, range), this.#parts.now(), pageMs);
    this.#pages.set(key, page);
    return page.value;
  }

  /** The clients, tunnels and hosts of all callers with problems that only the engine knows, and which expiries of clients are a problem. */
  async troubled(): Promise<Troubled> {
    const { certificates, unhealthyTunnels, unhealthyHosts } = await this.#allTroubles();
    const now = this.#parts.now();
    const broken = certificates.filter(({ status }) => isBroken(certificateProblems[status]));
    const soon = certificates.filter(({ status }) => !isBroken(certificateProblems[status]));
    const clientsOf = (routes: ReadonlyArray<{ readonly clientId: number }>) => [...new Set(routes.map(({ clientId }) => clientId))];
    return {
      clients: {
        brokenIds: clientsOf([...unhealthyTunnels, ...unhealthyHosts, ...broken]),
        soonIds: clientsOf(soon),
        since: new Date(now - expiryMs),
        until: new Date(now + expiryMs),
      },
      tunnels: unhealthyTunnels.map(({ id }) => id),
      hosts: [...new Set([...unhealthyHosts, ...certificates].map(({ id }) => id))],
    };
  }

  async #read(scope: Scope, { offset, limit }: Range): Promise<ProblemPage> {
    const sources = sourcesOf(this.#parts, scope, await this.#ownTroubles(scope));
    const counts = await Promise.all(sources.map(({ count }) => count()));
    const rows: Problem[] = [];
    let [before, broken] = [0, 0];
    for (const [index, source] of sources.entries()) {
      const count = counts[index] ?? 0;
      if (source.isBroken) broken += count;
      const skip = Math.max(0, offset - before);
      const wanted = limit - rows.length;
      if (wanted > 0 && skip < count) rows.push(...await source.rows({ offset: skip, limit: wanted }));
      before += count;
    }
    return { rows, total: before, broken };
  }

  /** The troubles of the caller's tunnels and hosts. */
  async #ownTroubles(scope: Scope): Promise<Troubles> {
    const all = await this.#allTroubles();
    if (scope.isAdministrator) return all;
    const isOwn = await this.#ownClients(scope, all);
    return {
      certificates: all.certificates.filter(isOwn),
      unhealthyTunnels: all.unhealthyTunnels.filter(isOwn),
      unhealthyHosts: all.unhealthyHosts.filter(isOwn),
    };
  }

  #allTroubles(): Promise<Troubles> {
    const now = this.#parts.now();
    if (!this.#troubles?.isFresh(now)) this.#troubles = new Kept(this.#parts.engine.troubles(), now, troublesMs);
    return this.#troubles.value;
  }

  async #ownClients({ ownerId, clientId }: Scope, all: Troubles): Promise<(of: { readonly clientId: number }) => boolean> {
    if (ownerId === undefined) return (of) => of.clientId === clientId;
    const ids = [...new Set([...all.certificates, ...all.unhealthyTunnels, ...all.unhealthyHosts].map((of) => of.clientId))];
    const own = new Set<number>();
    for (let start = 0; start < ids.length; start += 200) {
      const rows = await this.#parts.store.db.client.findMany({ where: { userId: ownerId, id: { in: ids.slice(start, start + 200) } }, select: { id: true } });
      for (const { id } of rows) own.add(id);
    }
    return (of) => own.has(of.clientId);
  }
}

/** A value that is read again after some time, or when reading it failed. */
class Kept<T> {
  readonly value: Promise<T>;
  readonly #readAt: number;
  readonly #ms: number;
  #failed = false;

  /** @param readAt ms since the epoch @param ms how long it is kept */
  constructor(value: Promise<T>, readAt: number, ms: number) {
    this.value = value;
    this.#readAt = readAt;
    this.#ms = ms;
    value.catch(() => {
      this.#failed = true;
    });
  }

  isFresh(now: number): boolean {
    // The clock may have been set back.
    return !this.#failed && now >= this.#readAt && now < this.#readAt + this.#ms;
  }
}

function scopeOf(caller: Caller): Scope {
  switch (caller.kind) {
    case 'admin':
      return { isAdministrator: true };
    case 'user':
      return { isAdministrator: false, ownerId: caller.userId };
    case 'client':
      return { isAdministrator: false, clientId: caller.clientId };
    case 'anonymous':
      throw new Error('a caller without a scope');
  }
}
