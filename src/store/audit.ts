import { type AuditEntry, Prisma } from './generated/sqlite/client.ts';
import type { Page } from './hot/page.ts';
import type { Reading } from './reading.ts';

/** An entry without an id, to be written. */
export type NewAuditEntry = Omit<AuditEntry, 'id'>;

/** The wanted entries; absent = any. */
export interface AuditQuery {
  readonly resource?: string;
  readonly resourceId?: string;
  readonly action?: string;
  readonly callerKind?: string;
  readonly callerId?: number;
  readonly from?: Date;
  /** The end of the range, exclusive. */
  readonly to?: Date;
  /** Only entries with smaller ids. */
  readonly beforeId?: number;
  readonly offset: number;
  readonly limit: number;
}

/** The statement that writes entries and returns their ids, by our own SQL: every write has one, and Prisma's would take twice the CPU. */
export function newEntries(data: readonly NewAuditEntry[]): Prisma.Sql {
  const rows = data.map((row) =>
    Prisma
      .sql`(${row.at}, ${row.callerKind}, ${row.callerId}, ${row.method}, ${row.address}, ${row.resource}, ${row.resourceId}, ${row.action}, ${row.before}, ${row.after})`
  );
  return Prisma.sql`INSERT INTO "AuditEntry" (at, "callerKind", "callerId", method, address, resource, "resourceId", action, before, after)
    VALUES ${Prisma.join(rows)} RETURNING id`;
}

/** Writes entries. @returns the entries with their ids, in the same order */
export async function addAuditEntries(tx: Prisma.TransactionClient, data: readonly NewAuditEntry[]): Promise<AuditEntry[]> {
  if (data.length === 0) return [];
  const added = await tx.$queryRaw<ReadonlyArray<{ readonly id: number | bigint }>>(newEntries(data));
  const ids = added.map(({ id }) => Number(id)).toSorted((a, b) => a - b);
  return data.map((row, index) => ({ id: ids[index] ?? 0, ...row }));
}

/** Reads entries, newest first. The total of all entries is stored; with a filter they are counted. */
export async function auditPage(db: Reading, { offset: skip, limit: take, from, to, beforeId, ...equal }: AuditQuery): Promise<Page<AuditEntry>> {
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
