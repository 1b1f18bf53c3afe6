import { type AgentRecords, type Declarations, type DeclaredEntry, type DeclaredKind, type DeclaredOutcome, MAX_DECLARED } from '../../engine/face.ts';
import type { columnsOfHost } from '../host/columns.ts';
import type { columnsOfTunnel } from '../tunnel/columns.ts';
import type { ColumnsHaving, ColumnUse } from '../values/columns.ts';
import { Context } from '../context.ts';
import { Problems } from '../values/problems.ts';
import { AditError, maskedError } from '../errors.ts';
import { createHost, deleteHost, updateHost } from '../host/write.ts';
import type { Services } from '../services.ts';
import { createTunnel } from '../tunnel/write.ts';
import { deleteTunnel, updateTunnel } from '../tunnel/write.ts';

/** The input fields that an agent can declare. */
type DeclaredFields<Of extends Readonly<Record<string, ColumnUse>>> = NonNullable<Of[ColumnsHaving<Of, { readonly declared: true }>]['input']>;

const NONE: DeclaredOutcome = { id: 0, port: 0, error: '' };

/**
 * Stores the tunnels and hosts that agents declare as records marked `noStore`. They are created, changed and deleted as if the
 * agent's client called the API, so every rule of the API applies.
 */
export class AgentDeclarations implements Declarations {
  readonly #services: Services;
  readonly #most: number;
  /** The work of each client's sessions, one after another, so that an agent that reconnects finds its old records deleted. */
  readonly #queues = new Map<number, Promise<unknown>>();
  #stopped = false;

  /** @param most maximum number of tunnels and hosts that an agent may declare */
  constructor(services: Services, most = MAX_DECLARED) {
    this.#services = services;
    this.#most = most;
  }

  open(clientId: number, address: string): AgentRecords {
    const context = new Context(this.#services, { kind: 'client', clientId, by: 'vkey', address });
    const records = new Records(context, clientId, this.#most);
    // Those of a session with a server that was killed: the agent is here now.
    void this.#inOrder(clientId, () => records.withdrawLeft());
    return {
      declare: (entry) => this.#inOrder(clientId, () => records.declare(entry)),
      withdraw: (kind, name) => this.#inOrder(clientId, () => records.withdraw(kind, name)),
      close: () => void this.#inOrder(clientId, () => records.withdrawAll()),
    };
  }

  #inOrder(clientId: number, work: () => Promise<DeclaredOutcome>): Promise<DeclaredOutcome> {
    const before = this.#queues.get(clientId) ?? Promise.resolve();
    const last = before.then(() => this.#stopped ? NONE : work());
    this.#queues.set(clientId, last);
    void last.then(() => {
      if (this.#queues.get(clientId) === last) this.#queues.delete(clientId);
    });
    return last;
  }

  /** Resolves when this object no longer uses the store. The store's `forgetDeclared` deletes the remaining records at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#queues.values());
  }
}

/** The id and port of a record; null = it doesn't exist. */
type Found = { readonly id: number; readonly port: number } | null;

/** The records of one session, by kind and name. */
class Records {
  readonly #context: Context;
  readonly #clientId: number;
  readonly #most: number;
  readonly #ids = new Map<string, { readonly kind: DeclaredKind; readonly id: number }>();
  constructor(context: Context, clientId: number, most: number) {
    this.#context = context;
    this.#clientId = clientId;
    this.#most = most;
  }

  async declare(entry: DeclaredEntry): Promise<DeclaredOutcome> {
    const key = `${entry.kind} ${entry.name}`;
    const id = this.#ids.get(key)?.id;
    let before: Found = null;
    try {
      if (id !== undefined) before = await this.#find(entry.kind, id);
      // One that somebody has deleted comes in its place.
      if (id === undefined && this.#ids.size >= this.#most) throw new AditError('CLIENT_TUNNEL_QUOTA');
      const after = await this.#write(entry, before?.id);
      this.#ids.set(key, { kind: entry.kind, id: after.id });
      return { id: after.id, port: 'port' in after ? after.port : 0, error: '' };
    } catch (error) {
      return { id: before?.id ?? 0, port: before?.port ?? 0, error: this.#textOf(error) };
    }
  }

  async withdraw(kind: DeclaredKind, name: string): Promise<DeclaredOutcome> {
    const key = `${kind} ${name}`;
    const record = this.#ids.get(key);
    if (record === undefined) return NONE;
    try {
      await this.#delete(record.kind, record.id);
    } catch (error) {
      return { ...NONE, error: this.#textOf(error) };
    }
    this.#ids.delete(key);
    return NONE;
  }

  /** Deletes what earlier sessions of the client have left. */
  async withdrawLeft(): Promise<DeclaredOutcome> {
    const { db } = this.#context.store;
    const where = { where: { clientId: this.#clientId, noStore: true }, select: { id: true } } as const;
    try {
      for (const { id } of await db.tunnel.findMany(where)) await this.#delete('tunnel', id);
      for (const { id } of await db.host.findMany(where)) await this.#delete('host', id);
    } catch (error) {
      this.#textOf(error);
    }
    return NONE;
  }

  async withdrawAll(): Promise<DeclaredOutcome> {
    for (const { kind, id } of this.#ids.values()) {
      try {
        await this.#delete(kind, id);
      } catch (error) {
        this.#textOf(error);
      }
    }
    this.#ids.clear();
    return NONE;
  }

  #write(entry: DeclaredEntry, id: number | undefined) {
    const problems = new Problems();
    if (entry.kind === 'tunnel') {
      // A tunnel with an assigned port keeps it.
      // If the agent declares no password, the generated one is kept.
      const declared = entry.tunnel satisfies Record<DeclaredFields<typeof columnsOfTunnel>, unknown>;
      const input = {
        ...declared,
        password: entry.tunnel.password || undefined,
        ...(id !== undefined && entry.tunnel.port === 0 && { port: undefined }),
        clientId: this.#clientId,
      };
      return id === undefined ? createTunnel(this.#context, problems, input, true) : updateTunnel(this.#context, problems, id, input, { noStore: true });
    }
    const { host, platformDomainId, ...rest } = entry.host satisfies Record<DeclaredFields<typeof columnsOfHost>, unknown>;
    const input = { ...rest, ...(host === '' ? { mode: 'platform' as const, platformDomainId } : { mode: 'custom' as const, host }), clientId: this.#clientId };
    return id === undefined ? createHost(this.#context, problems, input, { noStore: true }) : updateHost(this.#context, problems, id, input, { noStore: true });
  }

  /** null = it was deleted in the meantime, alone or with its client. */
  async #find(kind: DeclaredKind, id: number): Promise<Found> {
    const { db } = this.#context.store;
    if (kind === 'tunnel') return db.tunnel.findUnique({ where: { id }, select: { id: true, port: true } });
    return await db.host.findUnique({ where: { id }, select: { id: true } }) && { id, port: 0 };
  }

  async #delete(kind: DeclaredKind, id: number): Promise<void> {
    if (await this.#find(kind, id) === null) return;
    if (kind === 'tunnel') await deleteTunnel(this.#context, id);
    else await deleteHost(this.#context, id);
  }

  /** Internal errors are logged, and the agent gets the id of the log entry. */
  #textOf(error: unknown): string {
    if (error instanceof AditError) return error.message;
    return maskedError(error, this.#context.log, 'a declaration of an agent failed', { clientId: this.#clientId }).message;
  }
}
