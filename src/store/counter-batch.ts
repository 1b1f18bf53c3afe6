import type { CounterKind } from './hot/counter-table.ts';
import type { CounterBatch } from './hot/counters.ts';

/** A batch without records. */
export const NOTHING: CounterBatch = { clients: [], tunnels: [], hosts: [] };

/** The name of a record: "client 5". */
export function nameOf(kind: CounterKind, id: number): string {
  return `${kind} ${id}`;
}

/** The names of the records of a batch. */
export function namesOf({ clients, tunnels, hosts }: CounterBatch): string[] {
  return [...clients.map(({ id }) => nameOf('client', id)), ...tunnels.map(({ id }) => nameOf('tunnel', id)), ...hosts.map(({ id }) => nameOf('host', id))];
}

/** Splits a batch in two; [] = it has at most one record. */
export function halvesOf(batch: CounterBatch): CounterBatch[] {
  const names = namesOf(batch);
  if (names.length < 2) return [];
  const first = new Set(names.slice(0, Math.ceil(names.length / 2)));
  return [only(batch, (name) => first.has(name)), only(batch, (name) => !first.has(name))];
}

/** The records whose names are wanted. */
export function only({ clients, tunnels, hosts }: CounterBatch, wanted: (name: string) => boolean): CounterBatch {
  return {
    clients: clients.filter(({ id }) => wanted(nameOf('client', id))),
    tunnels: tunnels.filter(({ id }) => wanted(nameOf('tunnel', id))),
    hosts: hosts.filter(({ id }) => wanted(nameOf('host', id))),
  };
}

/** The records of both batches; a record of both is as in the later one. */
export function merged(earlier: CounterBatch, later: CounterBatch): CounterBatch {
  return {
    clients: lastOf(earlier.clients, later.clients),
    tunnels: lastOf(earlier.tunnels, later.tunnels),
    hosts: lastOf(earlier.hosts, later.hosts),
  };
}

function lastOf<Row extends { readonly id: number }>(earlier: readonly Row[], later: readonly Row[]): readonly Row[] {
  return earlier.length === 0 ? later : [...new Map([...earlier, ...later].map((row) => [row.id, row])).values()];
}
