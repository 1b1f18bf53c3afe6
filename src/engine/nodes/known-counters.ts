import { messageOf } from '../../wire/system-error.ts';
import type { ClientEntry } from '../clients.ts';
import type { Environment } from '../environment.ts';
import type { CountedBytes } from '../face.ts';
import type { Meter } from '../limits/meter.ts';
import type { ClientTotals } from '../other-nodes.ts';

/** Between attempts to read totals that could not be read, in ms. */
const AGAIN_MS = 1000;

/** What {@link KnownCounters} needs. */
export interface KnownCountersParts {
  readonly environment: Environment;
  /** Other nodes were running before this one has read all totals. */
  readonly amongOthers: boolean;
  /** The stored totals; undefined = there is no such client. */
  readonly stored: (clientId: number) => Promise<ClientTotals | undefined>;
  /** What another node, which was home before, has counted; undefined = it does not say. */
  readonly counted: (clientId: number, node: string) => Promise<ClientTotals | undefined>;
}

/** What a client whose totals could not be read yet needs. */
interface Pending {
  /** The nodes to ask. */
  readonly before: Set<string>;
  /** What had been counted here when the client came. */
  readonly here: ReturnType<typeof snapshot>;
}

/**
 * The clients whose counters this node knows. While it is the only one, it knows all of them, since it has read them at its start. A node that becomes a client's home reads
 * the stored totals, and asks the home before for what is not stored yet. Until then, what it counts itself is not stored.
 */
export class KnownCounters {
  readonly #parts: KnownCountersParts;
  /** All clients are known, since no other node has been seen. */
  #all: boolean;
  readonly #known = new Set<number>();
  readonly #learning = new Set<number>();
  /** The clients whose totals could not be read yet. */
  readonly #pending = new Map<number, Pending>();
  /** The log says that totals cannot be read: once, of whichever client, however many wait for the database. */
  #failing = false;

  constructor(parts: KnownCountersParts) {
    this.#parts = parts;
    this.#all = !parts.amongOthers;
  }

  has(clientId: number): boolean {
    return this.#all || this.#known.has(clientId);
  }

  /** Another node has become the client's home. */
  lose(clientId: number): void {
    this.#keepConnected();
    this.#known.delete(clientId);
    this.#pending.delete(clientId);
  }

  /** Another node can be reached, or no longer: it may have been the home of any client whose agent is not connected here. */
  loseOthers(): void {
    this.#keepConnected();
    for (const id of this.#known) if (!this.#parts.environment.clients.get(id)?.session) this.#known.delete(id);
  }

  #keepConnected(): void {
    if (!this.#all) return;
    this.#all = false;
    for (const { session, wanted: { id } } of this.#parts.environment.clients.all()) if (session) this.#known.add(id);
  }

  /** Reads the totals of a client in the background, unless they are known. @param before the nodes that may have counted for it before */
  learn(clientId: number, before: readonly string[]): void {
    const { environment } = this.#parts;
    const entry = environment.clients.get(clientId);
    if (!entry || this.has(clientId)) return;
    const pending = this.#pending.get(clientId) ?? { before: new Set(), here: snapshot(environment, entry) };
    for (const node of before) pending.before.add(node);
    this.#pending.set(clientId, pending);
    if (this.#learning.has(clientId)) return;
    this.#learning.add(clientId);
    void this.#learn(entry, pending).finally(() => this.#learning.delete(clientId));
  }

  async #learn(entry: ClientEntry, pending: Pending): Promise<void> {
    const { environment, stored, counted } = this.#parts;
    const { id: clientId } = entry.wanted;
    const before = [...pending.before];
    try {
      const all = await Promise.all([stored(clientId), ...before.map((node) => counted(clientId, node))]);
      // Meanwhile the client has been somewhere else, which has counted more: the next batch learns it.
      if (this.#pending.get(clientId) !== pending || pending.before.size > before.length) return;
      for (const totals of all) adopt(pending.here, totals);
      this.#known.add(clientId);
      this.#pending.delete(clientId);
      if (this.#failing) environment.log.info('the counters of clients that have come here can be read again');
      this.#failing = false;
    } catch (error) {
      environment.log[this.#failing ? 'debug' : 'warn'](
        { clientId },
        `the counters of a client that has come here could not be read; tried again, and stored then: ${messageOf(error)}`,
      );
      this.#failing = true;
      // The state of the client stays unsaved, which brings it here again.
      await new Promise((resolve) => {
        setTimeout(resolve, AGAIN_MS).unref();
      });
    }
  }
}

/** The meters of a client, its tunnels and hosts by their names, each with what it has counted until now. */
function snapshot({ hosts }: Environment, entry: ClientEntry): Map<string, { readonly meter: Meter } & CountedBytes> {
  const of = (meter: Meter) => ({ meter, inletBytes: meter.inlet, exportBytes: meter.export });
  return new Map([
    ['client', of(entry.meter)],
    ...Array.from(entry.tunnels, ({ meter }) => [`tunnel ${meter.id}`, of(meter)] as const),
    ...Array.from(hosts.ofClient(entry.wanted.id), ({ meter }) => [`host ${meter.id}`, of(meter)] as const),
  ]);
}

/** What was counted before is in the store, or at another node, or here, whichever is most; what was counted here since is added. */
function adopt(here: Map<string, { readonly meter: Meter } & CountedBytes>, totals: ClientTotals | undefined): void {
  for (const [name, { inletBytes, exportBytes }] of namesOf(totals)) {
    const own = here.get(name);
    if (!own) continue;
    own.meter.reset({ inletBytes: Math.min(0, own.inletBytes - inletBytes), exportBytes: Math.min(0, own.exportBytes - exportBytes) });
    here.set(name, { meter: own.meter, inletBytes: Math.max(own.inletBytes, inletBytes), exportBytes: Math.max(own.exportBytes, exportBytes) });
  }
}

function namesOf(totals: ClientTotals | undefined): ReadonlyMap<string, CountedBytes> {
  if (!totals) return new Map();
  return new Map<string, CountedBytes>([
    ['client', totals.client],
    ...totals.tunnels.map((row) => [`tunnel ${row.id}`, row] as const),
    ...totals.hosts.map((row) => [`host ${row.id}`, row] as const),
  ]);
}

/** A client, tunnel or host. */
interface Counted {
  readonly wanted: { readonly id: number };
  readonly traffic: CountedBytes;
}

/** The totals of a client as this node has counted them. */
export function totalsOf(environment: Environment, entry: ClientEntry): ClientTotals {
  const of = ({ wanted: { id }, traffic: { inletBytes, exportBytes } }: Counted) => ({ id, inletBytes, exportBytes });
  return {
    client: of(entry),
    tunnels: Array.from(entry.tunnels, of),
    hosts: Array.from(environment.hosts.ofClient(entry.wanted.id), of),
  };
}
