import { editDistance } from '../../rules/near-name.ts';
import type { Host } from '../../store/generated/sqlite/client.ts';
import { listScope } from '../access/records.ts';
import type { Context } from '../context.ts';

/** How many hosts are suggested. */
export const mostNear = 5;
/** The most letters that differ. */
const mostEdits = 2;
/** How many hosts with a part of the name are compared. */
const compared = 50;

/**
 * The caller's hosts whose names are those of a request but for two letters: it may be mistyped. One of three parts of the name is then the same, which
 * the search finds in any number of hosts.
 */
export async function nearHosts(context: Context, name: string): Promise<Host[]> {
  if (name.length < 3 || name.includes('\0')) return [];
  const scope = await listScope(context, undefined);
  const part = Math.ceil(name.length / 3);
  const near = new Map<number, { readonly row: Host; readonly distance: number }>();
  for (const start of [0, part, 2 * part]) {
    const search = name.slice(start, start + part);
    if (search === '') continue;
    const { store: { hostPage, hostPages } } = context;
    const { rows } = await context.list({ ...scope, search, withoutSecrets: true, offset: 0, limit: compared }, hostPage, hostPages);
    for (const row of rows) {
      const distance = editDistance(name, row.host.replace(/^\*\./, ''), mostEdits);
      if (distance !== undefined && distance > 0) near.set(row.id, { row, distance });
    }
  }
  return Array.from(near.values()).toSorted((a, b) => a.distance - b.distance || a.row.id - b.row.id).slice(0, mostNear).map(({ row }) => row);
}
