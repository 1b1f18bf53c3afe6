import type { HostPort } from '../../rules/host-port.ts';
import { formatServerList } from '../../rules/server-list.ts';
import type { Agent } from '../agent.ts';
import type { ConfiguredAgent } from '../configured-agent.ts';
import { nameOf } from '../declarer.ts';
import type { Snapshot } from './snapshot-schema.ts';

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
