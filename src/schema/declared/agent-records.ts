import { type AgentRecords, type Declarations, type DeclaredEntry, type DeclaredKind, type DeclaredOutcome, MAX_DECLARED } from '../../engine/face.ts';
import { Context } from '../context.ts';
import { AditError, maskedError } from '../errors.ts';
import { createHost, deleteHost, updateHost } from '../host/write.ts';
import type { Services } from '../services.ts';
import { createTunnel } from '../tunnel/create.ts';
import { deleteTunnel, updateTunnel } from '../tunnel/update.ts';

const NONE: DeclaredOutcome = { id: 0, port: 0, error: '' };

/**
 * Keeps the tunnels and hosts that agents bring along as records that are marked `noStore`. They are made, changed and deleted as by a call
 * of the agent's client, so every rule of the API holds for them.
 */
export class AgentDeclarations implements Declarations {
  readonly #services: Services;
  /** By client: what its sessions still do, one after another. The agent that comes back finds its old records gone. */
  readonly #turns = new Map<number, Promise<unknown>>();
  #stopped = false;
  #sessions = 0;

  constructor(services: Services) {
    this.#services = services;
  }

  open(clientId: number, address: string): AgentRecords {
    const context = new Context(this.#services, { kind: 'client', clientId, by: 'vkey', address }, `agent-${++this.#sessions}`);
    const records = new Records(context, clientId);
    return {
      declare: (entry) => this.#inTurn(clientId, () => records.declare(entry)),
      withdraw: (kind, name) => this.#inTurn(clientId, () => records.withdraw(kind, name)),
      close: () => void this.#inTurn(clientId, () => records.withdrawAll()),
    };
  }

  #inTurn(clientId: number, work: () => Promise<DeclaredOutcome>): Promise<DeclaredOutcome> {
    const before = this.#turns.get(clientId) ?? Promise.resolve();
    const turn = before.then(() => this.#stopped ? NONE : work());
    this.#turns.set(clientId, turn);
    void turn.then(() => {
      if (this.#turns.get(clientId) === turn) this.#turns.delete(clientId);
    });
    return turn;
  }

  /** Touches the store no more when it resolves. What sessions leave behind, `forgetDeclared` of the store takes away at the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#turns.values());
  }
}

/** A record's id and port; null = there is none. */
type Found = { readonly id: number; readonly port: number } | null;

/** The records of one session, by kind and name. */
class Records {
  readonly #context: Context;
  readonly #clientId: number;
  readonly #ids = new Map<string, { readonly kind: DeclaredKind; readonly id: number }>();
  constructor(context: Context, clientId: number) {
    this.#context = context;
    this.#clientId = clientId;
  }

  async declare(entry: DeclaredEntry): Promise<DeclaredOutcome> {
    const key = `${entry.kind} ${entry.name}`;
    const id = this.#ids.get(key)?.id;
    let before: Found = null;
    try {
      if (id !== undefined) before = await this.#find(entry.kind, id);
      if (before === null && this.#ids.size >= MAX_DECLARED) throw new AditError('CLIENT_TUNNEL_QUOTA');
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
    if (entry.kind === 'tunnel') {
      // A tunnel that has got a free port keeps it.
      // An agent that says no password keeps the one that was generated.
      const input = { ...entry.tunnel, password: entry.tunnel.password || undefined, ...(id !== undefined && entry.tunnel.port === 0 && { port: undefined }), clientId: this.#clientId };
      return id === undefined ? createTunnel(this.#context, input, true) : updateTunnel(this.#context, id, input, true);
    }
    const { host, platformDomainId, ...rest } = entry.host;
    const input = { ...rest, ...(host === '' ? { mode: 'platform' as const, platformDomainId } : { mode: 'custom' as const, host }), clientId: this.#clientId };
    return id === undefined ? createHost(this.#context, input, true) : updateHost(this.#context, id, input, true);
  }

  /** null = it was deleted meanwhile, by itself or with its client. */
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

  /** A fault of ours is in the log, and the agent gets its id there. */
  #textOf(error: unknown): string {
    if (error instanceof AditError) return error.message;
    return maskedError(error, this.#context.log, 'a declaration of an agent failed', { clientId: this.#clientId }).message;
  }
}
