import * as z from 'zod';

const row = z.object({
  kind: z.enum(['tunnel', 'host']),
  /** The name in the configuration file; "" = not from there. */
  name: z.string(),
  /** The id of its record; 0 = none. */
  id: z.int(),
  /** A tunnel's type; of a host its scheme. */
  type: z.string(),
  /** A host's name and path; "" = a tunnel. */
  host: z.string(),
  /** 0 = it has none. */
  port: z.int(),
  /** The first ten. */
  targets: z.array(z.string()),
  running: z.boolean(),
  /** Why it doesn't serve, or differs from the file; "" = no problem. */
  error: z.string(),
  connections: z.int(),
  /** The number of its visitors whose new connections go through the server, and of those that use a direct path. */
  visitors: z.object({ relay: z.int(), direct: z.int() }),
  /** How many of its targets are healthy, and how many there are; null = they aren't checked. */
  health: z.object({ healthy: z.int(), targets: z.int() }).nullable(),
});

const session = z.object({
  server: z.string(),
  connected: z.boolean(),
  /** ms since the epoch. */
  since: z.number(),
  /** The identity that it is connected with, or why it isn't connected. */
  text: z.string(),
});

const visitor = session.extend({
  name: z.string(),
  type: z.enum(['secret', 'p2p']),
  /** Its local port; "" = it isn't open. */
  listen: z.string(),
  error: z.string(),
  path: z.enum(['relay', 'direct']).nullable(),
});

/** What a running agent reports about itself. */
export const snapshotSchema = z.object({
  pid: z.int(),
  version: z.string(),
  /** The configuration file; "" = it runs without one. */
  config: z.string(),
  /** The problems of the current file; meanwhile the agent keeps running the previous one. */
  problems: z.array(z.string()),
  /** null = it has visitors only. */
  session: session.nullable(),
  /** The client's tunnels and hosts; null = the server is not reachable. */
  entries: z.array(row).nullable(),
  visitors: z.array(visitor),
});
/** @see snapshotSchema */
export type Snapshot = z.output<typeof snapshotSchema>;
