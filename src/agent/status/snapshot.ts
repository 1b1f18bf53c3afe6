import * as z from 'zod';
import type { HostPort } from '../../rules/host-port.ts';
import { formatServerList } from '../../rules/server-list.ts';
import type { Agent } from '../agent.ts';
import type { ConfiguredAgent } from '../configured-agent.ts';
import { nameOf } from '../declarer.ts';

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

/** The part that stays the same while an agent runs. */
export type Identity = Pick<Snapshot, 'pid' | 'version' | 'config'>;

/** The snapshot of an agent without a configuration file. */
export async function agentSnapshot(identity: Identity, servers: readonly HostPort[], agent: Agent): Promise<Snapshot> {
  const rows = await agent.overview();
  return {
    ...identity,
    problems: [],
    visitors: [],
    session: { server: formatServerList(servers), ...agent.state },
    entries: rows?.map((row) => ({ ...row, name: '' })) ?? null,
  };
}

/** The snapshot of an agent in configuration-file mode. */
export async function configuredSnapshot(identity: Identity, configured: ConfiguredAgent): Promise<Snapshot> {
  const { agent: running, plan, problems } = configured;
  const server = plan ? formatServerList(plan.servers) : '';
  return {
    ...identity,
    problems: [...problems],
    session: running ? { server, ...running.agent.state } : null,
    entries: running ? await entriesOf(configured) : [],
    visitors: Array.from(configured.visitors, ([name, { table, running: { visitor, address, error } }]) => ({
      name,
      type: table.type,
      listen: address,
      error,
      server,
      path: visitor.path ?? null,
      ...visitor.state,
    })),
  };
}

async function entriesOf({ agent: running, plan }: ConfiguredAgent): Promise<Snapshot['entries']> {
  const rows = await running?.agent.overview();
  if (!running || !rows) return null;
  const { declarer } = running;
  const entries = rows.map((row) => {
    const name = declarer.entryOf(row.kind, row.id) ?? '';
    return { ...row, name, error: row.error || (declarer.stateOf({ kind: row.kind, name })?.error ?? '') };
  });
  const known = new Set(entries.map(nameOf));
  const absent = (plan?.entries ?? []).filter((entry) => !known.has(nameOf(entry))).map((entry) => {
    const { type, host, targets } = entry.kind === 'tunnel'
      ? { type: entry.tunnel.mode, host: '', targets: entry.tunnel.targets }
      : { type: entry.host.scheme, host: entry.host.host, targets: entry.host.targets };
    const error = declarer.stateOf(entry)?.error || 'the server has not taken it yet';
    return {
      kind: entry.kind,
      name: entry.name,
      id: 0,
      type,
      host,
      port: 0,
      targets: targets.slice(0, 10),
      running: false,
      error,
      connections: 0,
      visitors: { relay: 0, direct: 0 },
      health: null,
    };
  });
  return [...entries, ...absent];
}
