import type { EngineFace, Troubles } from '../../engine/face.ts';
import type { Attempts } from '../../rules/attempts.ts';
import type { Caller } from '../../rules/caller.ts';
import type { Client } from '../../store/generated/sqlite/client.ts';
import type { CountScope } from '../../store/hot/counts.ts';
import type { ProblemListName } from '../../store/hot/problem-lists.ts';
import type { Store } from '../../store/store.ts';
import { certificateProblems, isBroken, type Problem, problem } from './codes.ts';

/** A range of the problems of a caller, and how many there are. */
export interface ProblemPage {
  readonly rows: readonly Problem[];
  readonly total: number;
  /** Those because of which visitors are refused now. */
  readonly broken: number;
}

interface Range {
  readonly offset: number;
  readonly limit: number;
}

/** Problems of one kind, in the order of the list. */
interface Source {
  readonly isBroken: boolean;
  readonly count: () => Promise<number>;
  readonly rows: (range: Range) => Promise<readonly Problem[]>;
}

/** What a caller sees, with the text that identifies it. */
interface Scope extends CountScope {
  readonly isAdministrator: boolean;
}

const dayMs = 86_400_000;
/** How long before an expiry it is a problem, and how long after it. */
const expiryMs = 7 * dayMs;
/** A page is read again after this many ms: so often, whoever asks. */
const pageMs = 2000;
/** The engine is asked again for its troubles after this many ms. */
const troublesMs = 10_000;
/** Maximum number of pages that are kept. */
const mostPages = 64;
const mebibyte = 2 ** 20;

/** What the board reads. */
interface BoardParts {
  readonly store: Store;
  readonly engine: EngineFace;
  readonly attempts: Attempts;
  readonly freshState: () => Promise<void>;
  /** ms since the epoch */
  readonly now: () => number;
}

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
    const page = new Kept(this.#read(scope, range), this.#parts.now() + pageMs);
    this.#pages.set(key, page);
    return page.value;
  }

  async #read(scope: Scope, { offset, limit }: Range): Promise<ProblemPage> {
    await this.#parts.freshState();
    const sources = await this.#sources(scope);
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

  async #sources(scope: Scope): Promise<Source[]> {
    const now = this.#parts.now();
    const soon = new Date(now + expiryMs);
    const { certificates, unhealthyTunnels, unhealthyHosts } = await this.#ownTroubles(scope);
    const certificate = (areBroken: boolean) => certificates.filter(({ status }) => isBroken(certificateProblems[status]) === areBroken);
    const own = scope.clientId === undefined;
    return [
      this.#clients(
        'away',
        true,
        scope,
        undefined,
        (client) => problem({ kind: 'client', id: client.id }, client.lastOnlineAt, 'AGENT_AWAY', { parts: client.tunnelCount }),
      ),
      this.#closedTunnels(scope),
      this.#clients(
        'expired',
        true,
        scope,
        new Date(now - expiryMs),
        (client) => problem({ kind: 'client', id: client.id }, client.expiresAt, 'CLIENT_EXPIRED', { at: iso(client.expiresAt) }),
      ),
      this.#clients(
        'trafficUsedUp',
        true,
        scope,
        undefined,
        (client) => problem({ kind: 'client', id: client.id }, null, 'TRAFFIC_USED_UP', trafficOf(client)),
      ),
      this.#unhealthyTunnels(scope, unhealthyTunnels),
      this.#unhealthyHosts(scope, unhealthyHosts),
      this.#certificates(scope, certificate(true), true),
      this.#certificates(scope, certificate(false), false),
      this.#clients(
        'trafficNearlyUsedUp',
        false,
        scope,
        undefined,
        (client) => problem({ kind: 'client', id: client.id }, null, 'TRAFFIC_NEARLY_USED_UP', trafficOf(client)),
      ),
      this.#clients(
        'expiring',
        false,
        scope,
        soon,
        (client) => problem({ kind: 'client', id: client.id }, null, 'CLIENT_EXPIRES', { at: iso(client.expiresAt) }),
      ),
      ...(own ? [this.#expiringUsers(scope, soon)] : []),
      this.#clients(
        'tunnelsUsedUp',
        false,
        scope,
        undefined,
        (client) => problem({ kind: 'client', id: client.id }, null, 'TUNNELS_USED_UP', { used: client.tunnelCount, limit: client.maxTunnels }),
      ),
      ...(scope.isAdministrator ? [this.#lockouts(now)] : []),
    ];
  }

  #clients(
    name: Exclude<ProblemListName, 'closedTunnels' | 'expiringUsers'>,
    areBroken: boolean,
    scope: Scope,
    moment: Date | undefined,
    problemOf: (client: Client) => Problem,
  ): Source {
    const { store } = this.#parts;
    const query = { scope, ...(moment && { moment }) };
    return {
      isBroken: areBroken,
      count: () => store.problemCount(name, query),
      rows: async (range) => (await store.problemRows(name, { ...query, ...range })).map(problemOf),
    };
  }

  #closedTunnels(scope: Scope): Source {
    const { store, engine } = this.#parts;
    return {
      isBroken: true,
      count: () => store.problemCount('closedTunnels', { scope }),
      rows: async (range) => {
        const tunnels = await store.problemRows('closedTunnels', { scope, ...range });
        const states = await engine.tunnelStates(tunnels.map(({ id }) => id));
        return tunnels.map((tunnel, index) => problem({ kind: 'tunnel', id: tunnel.id }, null, 'TUNNEL_CLOSED', { problem: states[index]?.error ?? '' }));
      },
    };
  }

  #expiringUsers(scope: Scope, moment: Date): Source {
    const { store } = this.#parts;
    return {
      isBroken: false,
      count: () => store.problemCount('expiringUsers', { scope, moment }),
      rows: async (range) =>
        (await store.problemRows('expiringUsers', { scope, moment, ...range })).map((user) =>
          problem({ kind: 'user', id: user.id }, null, 'USER_EXPIRES', { at: iso(user.expiresAt) })
        ),
    };
  }

  #lockouts(now: number): Source {
    const count = this.#parts.attempts.lockouts(now).length;
    return {
      isBroken: false,
      count: async () => count > 0 ? 1 : 0,
      rows: async () => count > 0 ? [problem({ kind: 'server', id: 0 }, null, 'LOCKED_OUT', { count })] : [],
    };
  }

  #certificates(scope: Scope, all: Troubles['certificates'], areBroken: boolean): Source {
    const { store, engine } = this.#parts;
    return {
      isBroken: areBroken,
      count: async () => all.length,
      rows: async ({ offset, limit }) => {
        const statuses = new Map(all.slice(offset, offset + limit).map(({ id, status }) => [id, status]));
        const hosts = visible(scope, await store.byIds('Host', [...statuses.keys()]));
        const states = await engine.hostCertificates(hosts.map(({ id }) => ({ id })));
        return hosts.map((host, index) => {
          const { problem: why = '', inUse, acme } = states[index] ?? {};
          const params = { problem: why === '' ? acme?.problem ?? '' : why, at: iso(inUse?.validTo ?? null) };
          return {
            of: { kind: 'host', id: host.id },
            since: null,
            code: certificateProblems[statuses.get(host.id) ?? 'missing'],
            params,
            isAcme: acme?.status === 'failed',
          };
        });
      },
    };
  }

  #unhealthyHosts(scope: Scope, all: Troubles['unhealthyHosts']): Source {
    const { store, engine } = this.#parts;
    return {
      isBroken: true,
      count: async () => all.length,
      rows: async ({ offset, limit }) => {
        const hosts = visible(scope, await store.byIds('Host', all.slice(offset, offset + limit).map(({ id }) => id)));
        const states = await engine.hostStates(hosts.map(({ id }) => id));
        return hosts.map((host, index) =>
          problem({ kind: 'host', id: host.id }, sinceOf(states[index]), 'TARGETS_UNHEALTHY', { problem: firstErrorOf(states[index]) })
        );
      },
    };
  }

  #unhealthyTunnels(scope: Scope, all: Troubles['unhealthyTunnels']): Source {
    const { store, engine } = this.#parts;
    return {
      isBroken: true,
      count: async () => all.length,
      rows: async ({ offset, limit }) => {
        const tunnels = visible(scope, await store.byIds('Tunnel', all.slice(offset, offset + limit).map(({ id }) => id)));
        const states = await engine.tunnelStates(tunnels.map(({ id }) => id));
        return tunnels.map((tunnel, index) =>
          problem({ kind: 'tunnel', id: tunnel.id }, sinceOf(states[index]), 'TARGETS_UNHEALTHY', { problem: firstErrorOf(states[index]) })
        );
      },
    };
  }

  /** The troubles of the caller's tunnels and hosts. */
  async #ownTroubles(scope: Scope): Promise<Troubles> {
    const now = this.#parts.now();
    if (!this.#troubles?.isFresh(now)) this.#troubles = new Kept(this.#parts.engine.troubles(), now + troublesMs);
    const all = await this.#troubles.value;
    if (scope.isAdministrator) return all;
    const isOwn = await this.#ownClients(scope, all);
    return {
      certificates: all.certificates.filter(isOwn),
      unhealthyTunnels: all.unhealthyTunnels.filter(isOwn),
      unhealthyHosts: all.unhealthyHosts.filter(isOwn),
    };
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
  readonly #until: number;
  #failed = false;

  /** @param until ms since the epoch */
  constructor(value: Promise<T>, until: number) {
    this.value = value;
    this.#until = until;
    value.catch(() => {
      this.#failed = true;
    });
  }

  isFresh(now: number): boolean {
    return !this.#failed && now < this.#until;
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

/** A record may have got another owner since the engine was asked. */
function visible<Row extends { readonly ownerId: number | null; readonly clientId: number }>({ ownerId, clientId }: Scope, rows: readonly Row[]): Row[] {
  return rows.filter((row) => (ownerId ?? row.ownerId) === row.ownerId && (clientId ?? row.clientId) === row.clientId);
}

function trafficOf({ inletBytes, exportBytes, flowLimit }: Client) {
  return { used: Number(inletBytes + exportBytes), limit: flowLimit * mebibyte };
}

function iso(at: Date | null): string {
  return at?.toISOString() ?? '';
}

type Checked = {
  readonly health: {
    readonly targets: ReadonlyArray<{ readonly healthy: boolean; readonly since: number | null; readonly target: string; readonly lastError: string }>;
  } | null;
} | undefined;

function sinceOf(state: Checked): Date | null {
  const times = (state?.health?.targets ?? []).flatMap(({ since }) => since === null ? [] : [since]);
  return times.length === 0 ? null : new Date(Math.max(...times));
}

function firstErrorOf(state: Checked): string {
  const failing = state?.health?.targets.find(({ healthy }) => !healthy);
  return failing === undefined ? '' : `${failing.target}: ${failing.lastError}`;
}
