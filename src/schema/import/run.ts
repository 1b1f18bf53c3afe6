import { setImmediate } from 'node:timers/promises';
import { addBytes, insertRows, releaseUnique, reserveIds, updateRows } from '../../store/hot/bulk.ts';
import type { Dialect } from '../../store/migrations.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { SchemaSettings } from '../services.ts';
import { endEnrolmentsOf } from '../enrolment/write.ts';
import type { ImportedRows, MadeChange } from '../writes/changes.ts';
import type { Work } from '../writes/writes.ts';
import { makePlan } from './make-plan.ts';
import type { ImportPlan, PlannedRow, Remembered } from './plan.ts';
import type { ImportSet } from './records.ts';
import { type ImportNote, type ImportProblem, type ImportReport, importResources } from './report.ts';
import { readStoredState, type StoredState } from './stored-state.ts';

/** How to import. */
export interface ImportOptions {
  /** Plan, but write nothing. */
  readonly dryRun: boolean;
  /** Add records to an installation that has others. */
  readonly merge: boolean;
  /** Apply what has changed in the folder since an earlier import. */
  readonly update: boolean;
  /** Leave records with problems out, and import the others. */
  readonly skipBroken: boolean;
}

/** What reading the folder has already found. */
export interface ImportFindings {
  readonly problems: readonly ImportProblem[];
  readonly leftOut: readonly ImportNote[];
  readonly notes: readonly ImportNote[];
}

/** The environment of an import. */
export interface ImportParts {
  readonly dialect: Dialect;
  readonly settings: SchemaSettings;
  readonly now: () => number;
}

/** The work of an import: it plans everything, and then writes all of it or nothing. */
export function importWork(set: ImportSet, findings: ImportFindings, options: ImportOptions, parts: ImportParts): Work<ImportReport> {
  return async (tx, changed) => {
    const stored = await readStoredState(tx);
    const now = parts.now();
    const plan = await makePlan(set, stored, { settings: parts.settings, now }, pauses(tx));
    const problems = [...findings.problems, ...plan.problems];
    const added = importResources.reduce((sum, resource) => sum + plan.counts[resource].added, 0);
    const updated = importResources.reduce((sum, resource) => sum + plan.counts[resource].changed, 0);
    const report = {
      counts: plan.counts,
      counted: plan.deltas.length,
      problems,
      leftOut: [...findings.leftOut, ...plan.leftOut, ...plan.missing],
      notes: [...findings.notes, ...plan.notes],
    };
    const refusal = refusalOf(stored, { added, updated, counted: plan.deltas.length }, options);
    if (refusal !== '' || (problems.length > 0 && !options.skipBroken)) return { ...report, refusal, outcome: 'refused' };
    if (added + updated + plan.deltas.length === 0) return { ...report, refusal, outcome: 'nothing' };
    if (options.dryRun) return { ...report, refusal, outcome: 'planned' };
    const at = new Date(now);
    await endCodes(tx, plan, stored, at, changed);
    const rows = await write(tx, plan, stored, parts.dialect);
    changed({
      resource: 'import',
      action: 'create',
      after: { id: at.toISOString(), counts: plan.counts, counted: plan.deltas.length, skipped: problems.length, leftOut: report.leftOut.length },
      rows,
    });
    return { ...report, refusal, outcome: 'done' };
  };
}

/** How long a transaction sends nothing, in ms: a connection to PostgreSQL that is silent for ten seconds counts as lost (store/postgresql.ts). */
const silentMs = 500;

/** Gives other work its turn, and keeps the transaction alive. */
function pauses(tx: Transaction): () => Promise<void> {
  let last = performance.now();
  return async () => {
    await setImmediate();
    if (performance.now() - last < silentMs) return;
    await tx.$queryRaw`SELECT 1`;
    last = performance.now();
  };
}

/** Why an installation must not be changed without a further option; "" = it may be. */
function refusalOf(
  stored: StoredState,
  { added, updated, counted }: { readonly added: number; readonly updated: number; readonly counted: number },
  { merge, update }: ImportOptions,
): string {
  const records = stored.users.size + stored.clients.size + stored.tunnels.size + stored.hosts.size + stored.domains.size;
  if (records === 0 || update) return '';
  if (stored.earlier.size > 0 && added + updated + counted > 0 && !(merge && updated + counted === 0)) {
    return `something was imported into this installation before, and ${
      added + updated + counted
    } records are new or have changed since: use --update to import them`;
  }
  return stored.earlier.size > 0 || merge
    ? ''
    : `this installation is not empty: it has ${records} users, clients, tunnels, hosts and platform domains; use --merge to add to them`;
}

/** Ends the codes of clients that get another key or owner, as when somebody gives them one: an old code must not return the new key. */
async function endCodes(tx: Transaction, plan: ImportPlan, { clients }: StoredState, now: Date, changed: (change: MadeChange) => void): Promise<void> {
  const other = new Set(
    plan.clients.filter(({ row, added }) => !added && (clients.get(row.id)?.vkey !== row.vkey || clients.get(row.id)?.userId !== row.userId)).map(({ row }) =>
      row.id
    ),
  );
  if (other.size === 0) return;
  const open = await tx.enrolment.findMany({
    where: { OR: [{ usedAt: null }, { expiresAt: { gt: now } }] },
    select: { clientId: true },
    distinct: ['clientId'],
  });
  for (const { clientId } of open) if (other.has(clientId)) await endEnrolmentsOf(tx, clientId, now, changed);
}

async function write(tx: Transaction, plan: ImportPlan, stored: StoredState, dialect: Dialect): Promise<ImportedRows> {
  await releaseChanged(tx, dialect, plan, stored);
  await save(tx, dialect, 'PlatformDomain', plan.domains, []);
  await save(tx, dialect, 'User', plan.users, ['createdAt'], 'passwordHash');
  await save(tx, dialect, 'Client', plan.clients, reported, 'webPasswordHash');
  await save(tx, dialect, 'Tunnel', plan.tunnels, counters);
  await save(tx, dialect, 'Host', plan.hosts, counters);
  for (const { row: { id, certFilePath, keyFilePath }, added } of plan.domains) {
    if (!added) await tx.host.updateMany({ where: { platformDomainId: id }, data: { certFilePath, keyFilePath } });
  }
  for (const [resource, table] of [['client', 'Client'], ['tunnel', 'Tunnel'], ['host', 'Host']] as const) {
    await addBytes(
      tx,
      dialect,
      table,
      plan.deltas.filter((delta) => delta.resource === resource).map(({ id, inletBytes, exportBytes }) => ({ id, inletBytes, exportBytes })),
    );
  }
  await insertRows(
    tx,
    dialect,
    'ApiToken',
    plan.tokens.map(({ userId, hash }) => ({
      userId,
      hash,
      name: 'imported',
      readOnly: false,
      secrets: true,
      wall: false,
      legacy: true,
      createdAt: new Date(),
    })),
  );
  if (plan.globalSettings !== undefined) {
    await tx.globalSettings.upsert({ where: { id: 1 }, create: { id: 1, ...plan.globalSettings }, update: plan.globalSettings });
  }
  const ended = plan.users.filter(({ added, keepsPassword }) => !added && !keepsPassword).map(({ row }) => row.id);
  if (ended.length > 0) await tx.session.deleteMany({ where: { userId: { in: ended } } });
  await remember(tx, dialect, plan.remembered, stored);
  for (const [kind, table] of [['user', 'User'], ['client', 'Client'], ['tunnel', 'Tunnel'], ['host', 'Host']] as const) {
    await reserveIds(tx, dialect, table, plan.highestId(kind));
  }
  return rowsFor(tx, plan);
}

/** Frees the unique values of stored rows that get others, since rows may exchange theirs, and new rows may get them. */
async function releaseChanged(tx: Transaction, dialect: Dialect, plan: ImportPlan, { users, clients, tunnels, hosts, domains }: StoredState): Promise<void> {
  const changed = <Id extends number | string, Row extends { readonly id: Id }>(rows: readonly PlannedRow<Row>[], differs: (row: Row) => boolean): Id[] =>
    rows.filter(({ row, added }) => !added && differs(row)).map(({ row }) => row.id);
  await releaseUnique(tx, dialect, 'PlatformDomain', changed(plan.domains, ({ id, wildcard }) => domains.get(id)?.wildcard !== wildcard));
  await releaseUnique(tx, dialect, 'User', changed(plan.users, ({ id, username }) => users.get(id)?.username !== username));
  await releaseUnique(tx, dialect, 'Client', changed(plan.clients, ({ id, vkey }) => clients.get(id)?.vkey !== vkey));
  await releaseUnique(tx, dialect, 'Tunnel', changed(plan.tunnels, ({ id, password }) => tunnels.get(id)?.password !== password));
  await releaseUnique(tx, dialect, 'Host', changed(plan.hosts, ({ id, host }) => hosts.get(id)?.host !== host));
}

/** Columns of clients that are not replaced: the engine writes them. */
const reported = ['createdAt', 'lastOnlineAt', 'lastAddress', 'localAddress', 'agentVersion', 'inletBytes', 'exportBytes'];
/** The same of tunnels and hosts. */
const counters = ['createdAt', 'inletBytes', 'exportBytes'];

/** Adds or replaces rows. @param kept the columns that a stored row keeps @param password the column that it keeps unless the folder has another password */
async function save<Row extends object>(
  tx: Transaction,
  dialect: Dialect,
  table: Parameters<typeof insertRows>[2],
  planned: readonly PlannedRow<Row>[],
  kept: readonly string[],
  password = '',
): Promise<void> {
  const without = (row: object, names: readonly string[]) => Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
  await insertRows(
    tx,
    dialect,
    table,
    planned.filter(({ added }) => added).map(({ row }) => row),
  );
  const changed = planned.filter(({ added }) => !added);
  const same = changed.filter(({ keepsPassword }) => keepsPassword);
  await updateRows(tx, dialect, table, same.map(({ row }) => without(row, [...kept, password])));
  await updateRows(tx, dialect, table, changed.filter((row) => !same.includes(row)).map(({ row }) => without(row, kept)));
}

async function remember(tx: Transaction, dialect: Dialect, remembered: readonly Remembered[], { earlier }: StoredState): Promise<void> {
  const isKnown = ({ resource, recordId }: Remembered): boolean => earlier.has(`${resource} ${recordId}`);
  await insertRows(tx, dialect, 'ImportedRecord', remembered.filter((record) => !isKnown(record)));
  await updateRows(tx, dialect, 'ImportedRecord', remembered.filter(isKnown), ['resource', 'recordId']);
}

/** The rows that the engine has to apply. */
async function rowsFor(tx: Transaction, plan: ImportPlan): Promise<ImportedRows> {
  const ids = (rows: ReadonlyArray<PlannedRow<{ readonly id: number }>>): number[] => rows.map(({ row }) => row.id);
  const clients = new Set(ids(plan.clients));
  const hosts = new Set(ids(plan.hosts));
  // The state of a client also depends on its owner, and the certificate of a host on its platform domain.
  for (const { row: { id: userId }, added } of plan.users) {
    if (!added) { for (const { id } of await tx.client.findMany({ where: { userId }, select: { id: true } })) clients.add(id); }
  }
  for (const { row: { id: platformDomainId }, added } of plan.domains) {
    if (!added) { for (const { id } of await tx.host.findMany({ where: { platformDomainId }, select: { id: true } })) hosts.add(id); }
  }
  const counted: ImportedRows['counted'][number][] = [...plan.deltas];
  for (const [resource, rows] of [['client', plan.clients], ['tunnel', plan.tunnels], ['host', plan.hosts]] as const) {
    for (const { row: { id, inletBytes, exportBytes }, added } of rows) {
      if (added && inletBytes + exportBytes > 0n) counted.push({ resource, id, inletBytes: Number(inletBytes), exportBytes: Number(exportBytes) });
    }
  }
  return { clients: [...clients], tunnels: ids(plan.tunnels), hosts: [...hosts], counted, globalSettings: plan.globalSettings !== undefined };
}
