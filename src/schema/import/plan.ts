import type { GlobalSettings, PlatformDomain } from '../../store/generated/sqlite/client.ts';
import type { AditError } from '../errors.ts';
import { Problems } from '../values/problems.ts';
import type { Claims, Conflict } from './conflicts.ts';
import { digestOf } from './digest.ts';
import type { Imported, ImportRecord, ImportSet } from './records.ts';
import type { ImportCounts, ImportNote, ImportProblem, ImportResource, importResources } from './report.ts';
import type { clientRow, hostRow, RowParts, tunnelRow, userRow } from './rows.ts';
import { earlierKey, type StoredState } from './stored-state.ts';

/** A row to write. */
export interface PlannedRow<Row> {
  readonly row: Row;
  /** false = it replaces the columns of a stored row */
  readonly added: boolean;
  /** A record of an earlier import keeps its login password if the folder's has not changed. */
  readonly keepsPassword: boolean;
}

/** What is remembered of an imported record. */
export interface Remembered {
  readonly resource: ImportResource;
  readonly recordId: string;
  readonly digest: string;
  readonly inletBytes: number;
  readonly exportBytes: number;
}

/** Bytes that a record has moved in the other server since it was imported. */
export interface CounterDelta {
  readonly resource: 'client' | 'tunnel' | 'host';
  readonly id: number;
  readonly inletBytes: number;
  readonly exportBytes: number;
}

/** A record with an id. */
type Identified = Exclude<ImportRecord, { readonly kind: 'leftOut' | 'globalSettings' }>;

/** What an import does with a record. */
interface Classified<Record> {
  readonly record: Record;
  readonly state: 'added' | 'changed' | 'unchanged' | 'gone' | 'conflict';
}

/** A record that can be imported as far as it is known by itself, and its row. */
export interface Candidate<Record, Row> {
  readonly record: Record;
  readonly row: Row;
  readonly state: 'added' | 'changed';
}

/** How many records are planned before a pause. */
const slice = 200;

/** What an import has to write. It is complete before anything is written. */
export class ImportPlan {
  readonly users: PlannedRow<ReturnType<typeof userRow>>[] = [];
  readonly clients: PlannedRow<ReturnType<typeof clientRow>>[] = [];
  readonly tunnels: PlannedRow<ReturnType<typeof tunnelRow>>[] = [];
  readonly hosts: PlannedRow<ReturnType<typeof hostRow>>[] = [];
  readonly domains: PlannedRow<PlatformDomain>[] = [];
  globalSettings: Omit<GlobalSettings, 'id'> | undefined;
  readonly tokens: Array<{ readonly userId: number; readonly hash: string }> = [];
  readonly remembered: Remembered[] = [];
  readonly deltas: CounterDelta[] = [];
  readonly problems: ImportProblem[] = [];
  readonly notes: ImportNote[] = [];
  readonly leftOut: ImportNote[] = [];
  /** Records that were imported before, and that the folder no longer has. */
  readonly missing: ImportNote[] = [];
  readonly counts = emptyCounts();
  readonly set: ImportSet;
  readonly stored: StoredState;
  readonly parts: RowParts;
  readonly #pause: () => Promise<void>;
  #planned = 0;

  /** @param pause called regularly, since planning may take many seconds */
  constructor(set: ImportSet, stored: StoredState, parts: RowParts, pause: () => Promise<void>) {
    this.set = set;
    this.stored = stored;
    this.parts = parts;
    this.#pause = pause;
  }

  /** The highest id that the folder has used for a kind of record. */
  highestId(kind: 'user' | 'client' | 'tunnel' | 'host'): number {
    const records = { user: this.set.users, client: this.set.clients, tunnel: this.set.tunnels, host: this.set.hosts }[kind];
    let highest = 0;
    for (const { id } of records) highest = Math.max(highest, id);
    for (const id of this.set.leftOut[kind]) highest = Math.max(highest, id);
    return highest;
  }

  /** The state of each record, by what was imported before and what is stored. */
  async classified<Record extends Identified, Row>(
    records: readonly Record[],
    storedOf: (record: Record) => Row | undefined,
    otherwiseChanged: (record: Record, row: Row) => boolean = () => false,
  ): Promise<Array<Classified<Record>>> {
    const classified: Array<Classified<Record>> = [];
    for (const record of records) {
      await this.#turn();
      classified.push({ record, state: this.#stateOf(record, storedOf(record), otherwiseChanged) });
    }
    return classified;
  }

  async #turn(): Promise<void> {
    if (++this.#planned % slice === 0) await this.#pause();
  }

  #stateOf<Record extends Identified, Row>(
    record: Record,
    row: Row | undefined,
    otherwiseChanged: (record: Record, row: Row) => boolean,
  ): Classified<Record>['state'] {
    const resource = resourceOf(record);
    const earlier = this.stored.earlier.get(earlierKey(resource, record.id));
    if (earlier === undefined) {
      if (row === undefined) return 'added';
      this.problem(record, 'id', `this server has another ${resource} with this id`);
      return 'conflict';
    }
    if (row === undefined) {
      this.leftOut.push({ source: record.source, text: 'was imported before, and has been deleted here since' });
      return 'gone';
    }
    if (earlier.digest !== digestOf(record) || otherwiseChanged(record, row)) return 'changed';
    this.counts[resource].unchanged++;
    this.#addDelta(record, earlier);
    return 'unchanged';
  }

  #addDelta(record: ImportRecord, earlier: { readonly inletBytes: number; readonly exportBytes: number }): void {
    if (record.kind !== 'client' && record.kind !== 'tunnel' && record.kind !== 'host') return;
    const delta = { inletBytes: record.inletBytes - earlier.inletBytes, exportBytes: record.exportBytes - earlier.exportBytes };
    if (delta.inletBytes === 0 && delta.exportBytes === 0) return;
    this.deltas.push({ resource: record.kind, id: record.id, ...delta });
    this.#remember(record, record.id);
  }

  write<Row>(rows: PlannedRow<Row>[], record: Identified, row: Row, state: 'added' | 'changed', keepsPassword: boolean): void {
    const resource = resourceOf(record);
    this.counts[resource][state]++;
    rows.push({ row, added: state === 'added', keepsPassword });
    const earlier = this.stored.earlier.get(earlierKey(resource, record.id));
    if (state === 'changed' && earlier !== undefined) this.#addDelta(record, earlier);
    if (this.remembered.at(-1)?.recordId !== String(record.id) || this.remembered.at(-1)?.resource !== resource) this.#remember(record, record.id);
  }

  #remember(record: ImportRecord, id: number | string): void {
    const { inletBytes = 0, exportBytes = 0 } = 'inletBytes' in record ? record : {};
    this.remembered.push({ resource: resourceOf(record), recordId: String(id), digest: digestOf(record), inletBytes, exportBytes });
  }

  /** Runs the checks of a record's fields. @returns undefined = there are problems, which are noted */
  checked<Row>(record: { readonly source: string }, make: (problems: Problems) => Row): Row | undefined {
    const found: AditError[] = [];
    const problems = new Problems('', found);
    const row = problems.check(() => make(problems), 'id');
    for (const { params, message } of found) this.problem(record, String(params['field'] ?? '').replace('platformDomains.0.', ''), message);
    return found.length > 0 ? undefined : row;
  }

  /** The new and changed records of which a row can be made. @param make returns undefined for a problem that it has noted itself */
  async candidates<Record extends Identified, Row>(
    classified: ReadonlyArray<Classified<Record>>,
    make: (problems: Problems, record: Record) => Row | undefined,
  ): Promise<Array<Candidate<Record, Row>>> {
    const candidates: Array<Candidate<Record, Row>> = [];
    for (const { record, state } of classified) {
      await this.#turn();
      if (state !== 'added' && state !== 'changed') continue;
      const row = this.checked(record, (problems) => make(problems, record));
      if (row !== undefined) candidates.push({ record, row, state });
    }
    return candidates;
  }

  /**
   * Drops the candidates that conflict with others or with stored rows that stay, which become problems. A stored row stays unless a candidate replaces it, so
   * two records may exchange values; if one of the two can't be imported, the other one can't either.
   * @param nameOf the name of a stored row in messages
   */
  async settled<Record extends Identified, Row, Stored>(
    candidates: ReadonlyArray<Candidate<Record, Row>>,
    stored: ReadonlyMap<Record['id'], Stored>,
    claims: () => Claims<Row | Stored>,
    nameOf: (id: Record['id']) => string,
  ): Promise<Array<Candidate<Record, Row>>> {
    let left = [...candidates];
    for (;;) {
      const replaced = new Set(left.filter(({ state }) => state === 'changed').map(({ record }) => record.id));
      const all = claims();
      for (const [id, row] of stored) if (!replaced.has(id)) all.add(row, `${nameOf(id)} of this server`);
      const refused = new Map<Candidate<Record, Row>, Conflict>();
      for (const candidate of left) {
        await this.#turn();
        const conflict = all.add(candidate.row, candidate.record.source);
        if (conflict !== undefined) refused.set(candidate, conflict);
      }
      // The stored row of a refused change stays: it may conflict with others.
      const staying = Array.from(refused).filter(([{ state }]) => state === 'changed');
      const dropped = staying.length > 0 ? new Map(staying) : refused;
      for (const [{ record }, { field, text }] of dropped) this.problem(record, field, text);
      left = left.filter((candidate) => !dropped.has(candidate));
      if (staying.length === 0) return left;
    }
  }

  dangles(record: Imported<'tunnel'> | Imported<'host'>, clients: ReadonlySet<number>): boolean {
    if (clients.has(record.clientId)) return false;
    this.problem(record, 'clientId', `client ${record.clientId} does not exist, or cannot be imported`);
    return true;
  }

  /**
   * The ids of the folder's records that are imported neither now nor before, so that what belongs to them must not be imported either: the server may have
   * other records with these ids.
   */
  lost(kind: 'user' | 'client' | 'platformDomain'): Set<number | string> {
    const { users, clients, platformDomains, leftOut } = this.set;
    const records = { user: users, client: clients, platformDomain: platformDomains }[kind];
    const planned = { user: this.users, client: this.clients, platformDomain: this.domains }[kind];
    const lost = new Set<number | string>(kind === 'platformDomain' ? [] : leftOut[kind]);
    for (const { id } of records) lost.add(id);
    for (const { row } of planned) lost.delete(row.id);
    for (const id of lost) if (this.stored.earlier.has(earlierKey(kind, id))) lost.delete(id);
    return lost;
  }

  /** The clients that tunnels and hosts of the folder can belong to. */
  clientIds(): Set<number> {
    const lost = this.lost('client');
    return new Set([...this.stored.clients.keys(), ...this.clients.map(({ row }) => row.id)].filter((id) => !lost.has(id)));
  }

  noteLocalProxy({ source, localProxy }: { readonly source: string; readonly localProxy: boolean }, row: { readonly localProxy: boolean }): void {
    if (localProxy && !row.localProxy) this.note({ source }, 'local_proxy is not carried over: allow_local_proxy is false in the settings');
  }

  note({ source }: { readonly source: string }, text: string): void {
    this.notes.push({ source, text });
  }

  problem({ source }: { readonly source: string }, field: string, text: string): void {
    this.problems.push({ source, field, text });
  }

  findMissing(): void {
    const present = new Set<string>(['globalSettings 1']);
    for (const record of this.set.all()) if ('id' in record) present.add(earlierKey(resourceOf(record), record.id));
    for (const { row } of this.domains) present.add(earlierKey('platformDomain', row.id));
    for (const kind of ['user', 'client', 'tunnel', 'host'] as const) for (const id of this.set.leftOut[kind]) present.add(earlierKey(kind, id));
    const rows = { user: this.stored.users, client: this.stored.clients, tunnel: this.stored.tunnels, host: this.stored.hosts };
    for (const key of this.stored.earlier.keys()) {
      const [kind = '', id = ''] = key.split(' ');
      const isHere = kind === 'user' || kind === 'client' || kind === 'tunnel' || kind === 'host' ? rows[kind].has(Number(id)) : this.stored.domains.has(id);
      if (!present.has(key) && isHere) {
        this.missing.push({ source: key, text: 'was imported before, and is no longer in the folder: it stays; delete it here if it is not needed' });
      }
    }
  }
}

function emptyCounts(): Record<ImportResource, ImportCounts> {
  const zero = (): ImportCounts => ({ added: 0, changed: 0, unchanged: 0 });
  return { user: zero(), client: zero(), tunnel: zero(), host: zero(), platformDomain: zero(), globalSettings: zero() } satisfies Record<
    (typeof importResources)[number],
    ImportCounts
  >;
}

function resourceOf(record: ImportRecord): ImportResource {
  if (record.kind === 'leftOut') throw new Error('a list of ids is no record');
  return record.kind;
}
