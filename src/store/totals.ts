/*
 * The kept counts: rows of Total for the lists, the counts of users and clients for their quotas and lists. Triggers of the migrations
 * keep them (0008_kept_counts); nothing else writes them.
 */

/** The name of the Total row of all tunnels, or of those of a mode. */
export function tunnelTotal(mode?: string): string {
  return mode === undefined ? 'tunnels' : `tunnels:${mode}`;
}
