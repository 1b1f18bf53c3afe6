import type { LoggedCommit, LogPosition } from '../change-log.ts';
import type { HotReader } from './reader.ts';

/** Commits read at once. */
const AT_ONCE = 200;

/**
 * Reads some of the commits after a position of the log, in their order. `last`: there are no more. Each server runs this for each commit of another one.
 * @returns undefined = the position is not in the log, because it was deleted long ago or is from another copy of the database
 */
export async function commitsAfter(
  reader: Pick<HotReader, 'rows'>,
  position: LogPosition,
): Promise<{ readonly commits: readonly LoggedCommit[]; readonly last: boolean } | undefined> {
  const rows = await reader.rows<Omit<LoggedCommit, 'seq'> & { readonly seq: bigint }>({
    text: 'SELECT seq, token, changes, "firstEntry", "lastEntry" FROM "LoggedCommit" WHERE seq >= $1 ORDER BY seq LIMIT $2',
    values: [position.seq, AT_ONCE],
  });
  const [known, ...commits] = rows.map((row) => ({ ...row, seq: Number(row.seq) }));
  if (known?.seq !== position.seq || known.token !== position.token) return undefined;
  if (commits.some(({ seq }, index) => seq !== position.seq + 1 + index)) return undefined;
  return { commits, last: rows.length < AT_ONCE };
}
