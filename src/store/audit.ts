import { type AuditEntry, Prisma } from './generated/sqlite/client.ts';
import { type AuditConditions, searchAudit } from './hot/audit.ts';
import { type Page, pageBytes, rowsOf } from './hot/page.ts';
import type { HotReader } from './hot/reader.ts';
import type { Reading } from './reading.ts';

/** An entry without an id, to be written. */
export type NewAuditEntry = Omit<AuditEntry, 'id'>;

/** Which page of the entries is wanted. */
export interface AuditQuery extends AuditConditions {
  readonly offset: number;
  readonly limit: number;
}

/** A page of the audit log. */
export interface AuditPage extends Page<AuditEntry> {
  /** When the oldest entry was written that a search looked at, if it did not look at all of them. */
  readonly searchedBackTo?: Date;
}

/** The statement that writes at most {@link MOST_ENTRIES} entries and returns their ids, by our own SQL: every write has one, and Prisma's would take twice the CPU. */
export function newEntries(data: readonly NewAuditEntry[]): Prisma.Sql {
  const rows = data.map((row) =>
    Prisma
      .sql`(${row.at}, ${row.callerKind}, ${row.callerId}, ${row.method}, ${row.tokenName}, ${row.address}, ${row.resource}, ${row.resourceId}, ${row.action}, ${row.before}, ${row.after})`
  );
  return Prisma.sql`INSERT INTO "AuditEntry" (at, "callerKind", "callerId", method, "tokenName", address, resource, "resourceId", action, before, after)
    VALUES ${Prisma.join(rows)} RETURNING id`;
}

/** The most entries of one statement: a statement has at most 32,766 parameters on SQLite, and 65,535 on PostgreSQL. */
export const MOST_ENTRIES = 1000;

/** Writes entries. @returns the entries with their ids, in the same order */
export async function addAuditEntries(tx: Prisma.TransactionClient, data: readonly NewAuditEntry[]): Promise<AuditEntry[]> {
  if (data.length === 0) return [];
  if (data.length > MOST_ENTRIES) {
    const first = await addAuditEntries(tx, data.slice(0, MOST_ENTRIES));
    return first.concat(await addAuditEntries(tx, data.slice(MOST_ENTRIES)));
  }
  const added = await tx.$queryRaw<ReadonlyArray<{ readonly id: number | bigint }>>(newEntries(data));
  const ids = added.map(({ id }) => Number(id)).toSorted((a, b) => a - b);
  return data.map((row, index) => ({ id: ids[index] ?? 0, ...row }));
}

/** Reads entries, newest first. The total of all entries is stored; with a filter they are counted. A search reads them in a worker. */
export async function auditPage(db: Reading, reader: HotReader, query: AuditQuery): Promise<AuditPage> {
  const { offset: skip, limit: take, ...conditions } = query;
  const { from, to, beforeId, search, ...equal } = conditions;
  if (search !== undefined && search !== '') {
    const { ids, last } = await searchAudit(reader, conditions);
    const [rows, oldest] = await Promise.all([
      rowsOf<AuditEntry>(reader, 'AuditEntry', ids.slice(skip, skip + take), pageBytes),
      last === undefined ? null : db.auditEntry.findUnique({ where: { id: last }, select: { at: true } }),
    ]);
    return { rows, total: ids.length, ...(oldest && { searchedBackTo: oldest.at }) };
  }
  const where: Prisma.AuditEntryWhereInput = {
    ...equal,
    ...((from ?? to) && { at: { gte: from, lt: to } }),
    ...(beforeId !== undefined && { id: { lt: beforeId } }),
  };
  const filtered = Object.values(where).some((value) => value !== undefined);
  const [rows, total] = await Promise.all([
    take === 0 ? [] : db.auditEntry.findMany({ where, orderBy: { id: 'desc' }, skip, take }),
    filtered ? db.auditEntry.count({ where }) : db.total.findUnique({ where: { name: 'audit' } }).then((row) => row?.value ?? 0),
  ]);
  return { rows, total };
}

/** Deletes the entries from before a moment. */
export async function pruneAudit(tx: Prisma.TransactionClient, before: Date): Promise<void> {
  await tx.auditEntry.deleteMany({ where: { at: { lt: before } } });
}
