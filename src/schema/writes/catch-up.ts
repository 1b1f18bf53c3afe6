import type { EngineChange, EngineFace } from '../../engine/face.ts';
import type { LoggedCommit } from '../../store/change-log.ts';
import type { CommitListener } from '../../store/commit-follower.ts';
import type { Reading } from '../../store/reading.ts';
import type { Store } from '../../store/store.ts';
import type { Live } from '../subscriptions/live.ts';
import { wantedState } from './engine-changes.ts';
import type { Changes } from './followed-changes.ts';
import { countersIn, loadLogged, type LoggedChange, parseLogged } from './logged-changes.ts';
import type { UnappliedChanges } from './unapplied-changes.ts';

/** Changes whose rows are loaded together. */
const slice = 500;

/** The dependencies of {@link CatchUp}. */
export interface CatchUpParts {
  readonly store: Store;
  readonly engine: EngineFace;
  readonly changes: Changes;
  readonly unapplied: UnappliedChanges;
  readonly live: Live;
}

/**
 * Applies the commits of the log that this server did not publish when it made them. It applies the current rows, so applying a commit twice, or
 * late, ends with the same state.
 */
export class CatchUp implements CommitListener {
  readonly #parts: CatchUpParts;

  constructor(parts: CatchUpParts) {
    this.#parts = parts;
  }

  async apply(commits: readonly LoggedCommit[]): Promise<void> {
    const { store: { db }, live } = this.#parts;
    const logged = commits.flatMap((commit) => parseLogged(commit.changes));
    if (logged.some(({ resource }) => resource === 'import')) {
      await this.reload();
      const counted = countersIn(logged);
      for (let start = 0; start < counted.length; start += slice) await this.#publish(counted.slice(start, start + slice));
    } else await this.#publish(logged);
    if (live.hasAuditors) { for (const entry of await entriesOf(db, commits)) live.audited(entry); }
  }

  async #publish(logged: readonly LoggedChange[]): Promise<void> {
    const { store, changes, unapplied } = this.#parts;
    const followed = await loadLogged(store, logged);
    for (const [index, change] of followed.entries()) {
      try {
        await changes.publish(change);
      } catch (error) {
        const failed = logged[index];
        if (failed !== undefined) unapplied.add(failed, error);
      }
    }
  }

  /** Makes the engine serve exactly what is stored. Deleted records go first, since they may hold ports and names of others. */
  async reload(): Promise<void> {
    const { store, engine, unapplied, live } = this.#parts;
    unapplied.clear();
    for (const change of await removals(store.db, engine)) await engine.apply(change);
    const state = wantedState(await store.loadEngineState());
    await engine.apply({ kind: 'blackIpList', list: state.blackIpList });
    await engine.apply({ kind: 'serverName', name: state.serverName });
    for await (const page of state.clients) for (const { wanted } of page) await this.#apply('client', { kind: 'client', client: wanted });
    for await (const page of state.tunnels) for (const { wanted } of page) await this.#apply('tunnel', { kind: 'tunnel', tunnel: wanted });
    for await (const page of state.hosts) for (const { wanted } of page) await this.#apply('host', { kind: 'host', host: wanted });
    await engine.apply({ kind: 'acme', name: null });
    live.endAll();
  }

  /** A record that the engine can't apply stops no other. */
  async #apply(resource: 'client' | 'tunnel' | 'host', change: Extract<EngineChange, { readonly kind: 'client' | 'tunnel' | 'host' }>): Promise<void> {
    const { engine, unapplied } = this.#parts;
    const { id } = change.kind === 'client' ? change.client : change.kind === 'tunnel' ? change.tunnel : change.host;
    await engine.apply(change).catch((error: unknown) => unapplied.add({ resource, id }, error));
  }
}

/** The removals of everything that the engine has and the store lacks. */
async function removals(db: Reading, engine: EngineFace): Promise<EngineChange[]> {
  const [wanted, clients, tunnels, hosts] = await Promise.all([
    engine.wanted(),
    db.client.findMany({ select: { id: true } }),
    db.tunnel.findMany({ select: { id: true } }),
    db.host.findMany({ select: { id: true } }),
  ]);
  return [
    ...lacking(wanted.hosts, hosts).map((id) => ({ kind: 'hostRemoved', id }) as const),
    ...lacking(wanted.tunnels, tunnels).map((id) => ({ kind: 'tunnelRemoved', id }) as const),
    ...lacking(wanted.clients, clients).map((id) => ({ kind: 'clientRemoved', id }) as const),
  ];
}

function lacking(ids: readonly number[], rows: ReadonlyArray<{ readonly id: number }>): readonly number[] {
  const stored = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !stored.has(id));
}

function entriesOf(db: Reading, commits: readonly LoggedCommit[]) {
  const ranges = commits.map(({ firstEntry, lastEntry }) => ({ id: { gte: firstEntry, lte: lastEntry } }));
  return db.auditEntry.findMany({ where: { OR: ranges }, orderBy: { id: 'asc' } });
}
