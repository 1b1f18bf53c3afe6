import * as z from 'zod';
import { label } from './peer-text.ts';

/** The most tunnels and hosts that one agent may declare. */
export const MAX_DECLARED = 1000;
/** Unanswered declarations of one session: the agent sends no more than this, the server accepts some more. */
export const DECLARED_AT_ONCE = 16;
/** Maximum size of an entry as JSON in bytes: the whole message must fit into a control message. */
export const MAX_ENTRY_BYTES = 60_000;

/** The name of an entry in the configuration file. */
export const entryName = z.string().min(1).max(64).pipe(label(64));

/** The answer to a declaration. */
export const declaredSchema = z.object({
  type: z.literal('declared'),
  kind: z.enum(['tunnel', 'host']),
  name: entryName,
  /** The record; 0 = none. With an error: the previous record, which is unchanged. */
  id: z.int().min(0),
  /** Its port; 0 = it has none. */
  port: z.int().min(0).max(65535),
  /** Why it differs from the declaration; "" = it doesn't. */
  error: label(1000),
});
/** @see declaredSchema */
export type Declared = z.output<typeof declaredSchema>;
