import * as z from 'zod';

/** The values that name a record, under the names that the audit log has for them. */
const named = z.object({ username: z.string(), remark: z.string(), host: z.string(), name: z.string() }).partial().catch({});

/** What a record was called after a change, or before it was deleted; null = it had no name. The values are those of the entry. */
export function resourceName(before: unknown, after: unknown): string | null {
  const { username, remark, host, name } = named.parse(after ?? before);
  return username || remark || host || name || null;
}
