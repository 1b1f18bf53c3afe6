import * as z from 'zod';
import { label } from './peer-text.ts';

/** Minimum interval between overviews for an agent, in ms: an earlier request is delayed until then. */
export const OVERVIEW_MS = 250;
/** Maximum targets listed for each tunnel or host. */
export const OVERVIEW_TARGETS = 10;
/** The most bytes of the rows of one part. */
const OVERVIEW_BYTES = 40_000;

const overviewRow = z.object({
  kind: z.enum(['tunnel', 'host']),
  id: z.int(),
  /** A tunnel's type; of a host its scheme. */
  type: label(20),
  /** A host's name and path; "" = a tunnel. */
  host: label(600),
  /** 0 = it has none. */
  port: z.int(),
  /** The first targets. */
  targets: z.array(label(300)).max(OVERVIEW_TARGETS),
  /** Whether it serves visitors. */
  running: z.boolean(),
  /** Why it doesn't serve; "" = no problem. */
  error: label(1000),
  /** Open connections. */
  connections: z.int(),
  /** Visitor programs whose new connections use the server, and those whose new connections use a direct path. */
  visitors: z.object({ relay: z.int(), direct: z.int() }),
  /** How many of its targets are healthy, and how many there are; null = they aren't checked. */
  health: z.object({ healthy: z.int(), targets: z.int() }).nullable(),
});
/** A tunnel or host as the server reports it to its agent. */
export type OverviewRow = z.output<typeof overviewRow>;

/** A part of the overview of an agent's tunnels and hosts. */
export const overviewSchema = z.object({ type: z.literal('overview'), rows: z.array(overviewRow).max(1000), last: z.boolean() });
/** @see overviewSchema */
export type OverviewPart = z.output<typeof overviewSchema>;

/** Splits rows into parts that each fit into a control message. */
export function* overviewParts(rows: Iterable<OverviewRow>): Generator<OverviewPart, undefined> {
  let part: OverviewRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    const more = Buffer.byteLength(JSON.stringify(row));
    if (bytes + more > OVERVIEW_BYTES) {
      yield { type: 'overview', rows: part, last: false };
      part = [];
      bytes = 0;
    }
    part.push(row);
    bytes += more;
  }
  yield { type: 'overview', rows: part, last: true };
  return undefined;
}
