import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { StoreError } from './errors.ts';
import type { PrismaClient } from './generated/sqlite/client.ts';
import { type Dialect, MIGRATION_LOCK, onlyAdds } from './migrations.ts';
import type { RunTransaction, Transaction } from './transaction.ts';

/** A node is considered dead when it has not reported for this long, in ms, by the database's clock. */
export const NODE_DEAD_MS = 10_000;
/** Rows of nodes that have not reported for this long are deleted, in days. */
const KEEP_DAYS = 7;

/** What a node says of itself at start. */
export interface NodeIdentity {
  readonly name: string;
  /** The address of its bridge, host:port; "" = unknown. */
  readonly address: string;
  /** The TLS port of its bridge, on which other nodes connect. */
  readonly linkPort: number;
  /** The TLS port of its bridge for agents; 0 = the same. */
  readonly tlsPort: number;
  readonly version: string;
}

const unreached = z.array(z.object({ name: z.string(), since: z.number(), problem: z.string() }));

/** Another server that a node cannot reach: since when, by the database's clock, in ms since the epoch, and why. */
type UnreachedNode = z.output<typeof unreached>[number];

/** A running server that cannot reach another one. */
export interface UnreachableFrom {
  readonly node: string;
  readonly since: Date;
  readonly problem: string;
}

/** What a node reports regularly. */
export interface NodeFigures {
  /** Connected agents. */
  readonly agents: number;
  /** Open connections of visitors. */
  readonly connections: number;
  /** The share of the time in which its event loop was busy. */
  readonly load: number;
  /** How far it is behind the log of changes, in ms. */
  readonly lagMs: number;
  /** It is stopping, so it sends agents and visitors to others. */
  readonly stopping: boolean;
  /** The other servers that it cannot reach. */
  readonly unreached: readonly UnreachedNode[];
}

/** A node as it last reported. */
export interface NodeState extends NodeIdentity, Omit<NodeFigures, 'stopping' | 'unreached'> {
  readonly startedAt: Date;
  /** When it last reported, by the database's clock. */
  readonly seenAt: Date;
  /** It has ended properly. */
  readonly stopped: boolean;
  readonly alive: boolean;
  /** It sends agents and visitors to others: an administrator has asked for it, or it is stopping. */
  readonly draining: boolean;
  /** The servers that run and cannot reach it. Empty if it does not run. */
  readonly unreachableFrom: readonly UnreachableFrom[];
}

/** The dependencies of {@link Nodes}. */
export interface NodesParts {
  readonly db: PrismaClient;
  readonly transaction: RunTransaction;
  readonly dialect: Dialect;
  /** The names of the migrations that the program has. */
  readonly migrations: readonly string[];
}

/** A server of a later version has migrated the database, while this one was frozen or could not reach it. */
export class NodeOutdatedError extends StoreError {
  constructor(migration: string) {
    super(`a server of a later version has changed the database by migration ${migration}, which this version does not know`);
  }
}

/** Another server was started later with this node's name. */
export class NodeReplacedError extends StoreError {
  constructor(name: string) {
    super(`another server has taken the name of this node, ${name}: give each its own with ADIT_NODE`);
  }
}

/**
 * The servers on the database. On PostgreSQL each has a row, with its name and a random incarnation; of two servers with one name, the one that was started later
 * keeps the row, and the other one ends. On SQLite there is only this one, and nothing is stored.
 */
export class Nodes {
  readonly #parts: NodesParts;
  readonly #incarnation = randomUUID();
  #own: NodeState | undefined;
  /** How far the database's clock is ahead of performance.now(), in ms. */
  #ahead = Number.NEGATIVE_INFINITY;

  constructor(parts: NodesParts) {
    this.#parts = parts;
  }

  /** The name of this node; "" = it has not joined, or this is SQLite. */
  get name(): string {
    return this.#parts.dialect === 'sqlite' ? '' : this.#own?.name ?? '';
  }

  /** This node is running: takes the row of its name. @returns since when, by the database's clock */
  async join(identity: NodeIdentity): Promise<Date> {
    const startedAt = this.#parts.dialect === 'sqlite' ? new Date() : await this.#parts.transaction((tx) => this.#takeRow(tx, identity, undefined, false));
    this.#own = {
      ...identity,
      agents: 0,
      connections: 0,
      load: 0,
      lagMs: 0,
      alive: true,
      stopped: false,
      draining: false,
      unreachableFrom: [],
      startedAt,
      seenAt: startedAt,
    };
    return startedAt;
  }

  /**
   * The database's clock, which all nodes have in common: it goes on from now, whatever happens to that of this machine. It never goes back. While the machine sleeps, it stands still until the next
   * report.
   * @returns ms since the epoch
   */
  async clock(): Promise<() => number> {
    if (this.#parts.dialect === 'sqlite') return Date.now;
    this.#setClock(await databaseNow(this.#parts.db));
    return () => performance.now() + this.#ahead;
  }

  #setClock(now: Date): void {
    this.#ahead = Math.max(this.#ahead, now.getTime() - performance.now());
  }

  /** The state of this node, as it last reported. */
  get own(): NodeState | undefined {
    return this.#own;
  }

  /** Reports figures, and learns whether this node is to drain. @throws {NodeReplacedError} if another server has taken the name @throws {NodeOutdatedError} */
  async report({ stopping, unreached: others, ...figures }: NodeFigures): Promise<void> {
    const own = this.#own;
    if (own === undefined) return;
    this.#own = { ...own, ...figures, seenAt: new Date(), draining: own.draining || stopping };
    if (this.#parts.dialect === 'sqlite') return;
    const { agents, connections, load, lagMs } = figures;
    await this.#parts.transaction(async (tx) => {
      const [updated] = await tx.$queryRaw<ReadonlyArray<{ readonly draining: boolean; readonly seenAt: Date }>>`UPDATE "Node"
        SET "seenAt" = timezone('UTC', clock_timestamp()), agents = ${agents}, connections = ${connections}, load = ${load}, "lagMs" = ${lagMs},
          unreached = ${JSON.stringify(others)}, draining = draining OR ${stopping}
        WHERE name = ${own.name} AND incarnation = ${this.#incarnation} RETURNING draining, "seenAt"`;
      if (updated !== undefined) {
        this.#setClock(updated.seenAt);
        this.#own = { ...own, ...figures, ...updated };
        return;
      }
      // The row was taken by another server, or it is missing or older in a database that was restored from a backup.
      const other = await tx.node.findUnique({ where: { name: own.name }, select: { startedAt: true } });
      if (other !== null && other.startedAt > own.startedAt) throw new NodeReplacedError(own.name);
      await this.#takeRow(tx, own, own.startedAt, own.draining || stopping);
    });
  }

  /**
   * Notes in this node's row that a batch of refusals is stored in this transaction. Does nothing on SQLite, where no commit is in doubt.
   * @returns false = it was stored before, although the response to that COMMIT was lost
   */
  async isFirstAttempt(tx: Transaction, batch: string): Promise<boolean> {
    const own = { incarnation: this.#incarnation };
    if (await tx.node.count({ where: { ...own, refusals: batch } }) > 0) return false;
    await tx.node.updateMany({ where: own, data: { refusals: batch } });
    return true;
  }

  /** This node ends properly: it is not alive from now on. */
  async leave(): Promise<void> {
    if (this.#parts.dialect === 'sqlite') return;
    await this.#parts.transaction((tx) => tx.$executeRaw`UPDATE "Node" SET stopped = true WHERE incarnation = ${this.#incarnation}`);
  }

  /** All nodes by name. @param tx as a write finds them; absent = as they are stored */
  async all(tx?: Transaction): Promise<NodeState[]> {
    if (this.#parts.dialect === 'sqlite') return this.#own ? [this.#own] : [];
    const rows = await (tx ?? this.#parts.db).$queryRaw<
      ReadonlyArray<Omit<NodeState, 'unreachableFrom'> & { readonly unreached: string }>
    >`SELECT name, address, "linkPort", "tlsPort", version, "startedAt", "seenAt", stopped, agents, connections, load, "lagMs", draining, unreached,
      NOT stopped AND "seenAt" > timezone('UTC', clock_timestamp()) - ${NODE_DEAD_MS} * interval '1 ms' AS alive FROM "Node" ORDER BY name`;
    const reports = rows.flatMap(({ name: node, alive, unreached: others }) =>
      alive ? unreached.parse(JSON.parse(others)).map(({ name, since, problem }) => ({ name, from: { node, since: new Date(since), problem } })) : []
    );
    return rows.map((row) => {
      const { unreached: _, ...state } = row;
      return { ...state, unreachableFrom: row.alive ? reports.flatMap(({ name, from }) => name === row.name ? [from] : []) : [] };
    });
  }

  /** @param since when this node was started, absent = now. @returns it @throws {NodeOutdatedError} */
  async #takeRow(tx: Transaction, { name, address, linkPort, tlsPort, version }: NodeIdentity, since: Date | undefined, draining: boolean): Promise<Date> {
    // No migration is under way.
    await tx.$executeRaw`SELECT pg_advisory_xact_lock_shared(${MIGRATION_LOCK})`;
    const applied = await tx.$queryRaw<Array<{ name: string }>>`SELECT migration_name AS name FROM _prisma_migrations WHERE rolled_back_at IS NULL`;
    const later = applied.find(({ name: migration }) => !this.#parts.migrations.includes(migration) && !onlyAdds(migration));
    if (later !== undefined) throw new NodeOutdatedError(later.name);
    const startedAt = since ?? await databaseNow(tx);
    await tx.node.deleteMany({ where: { name } });
    await tx.node.create({ data: { name, address, linkPort, tlsPort, version, incarnation: this.#incarnation, startedAt, seenAt: startedAt, draining } });
    return startedAt;
  }
}

async function databaseNow(db: Transaction): Promise<Date> {
  const [row] = await db.$queryRaw<Array<{ now: Date }>>`SELECT timezone('UTC', clock_timestamp()) AS now`;
  return row?.now ?? new Date();
}

/** Deletes the rows of nodes that have not reported for a week. */
export async function pruneNodes(tx: Transaction): Promise<void> {
  await tx.node.deleteMany({ where: { seenAt: { lt: new Date(Date.now() - KEEP_DAYS * 86_400_000) } } });
}
