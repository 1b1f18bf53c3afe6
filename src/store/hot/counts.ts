import { Binder, type HotQuery } from './binder.ts';
import type { HotReader } from './reader.ts';

/** The owner of the counted records; {} = all records. */
export interface CountScope {
  readonly ownerId?: number;
  readonly clientId?: number;
}

/** The number of records by state. Running state is the last saved one. */
export interface Counts {
  readonly clients: {
    readonly total: number;
    readonly connected: number;
    readonly neverSeen: number; /** without expired ones */
    readonly disabled: number;
    readonly expired: number;
  };
  readonly tunnels: { readonly total: number; readonly running: number; readonly byMode: ReadonlyMap<string, number> };
  /** `serving` = started, and the client is connected */
  readonly hosts: { readonly total: number; readonly serving: number; readonly disabled: number };
  /** null = counted only over all records */
  readonly users: { readonly total: number; readonly disabled: number; readonly expired: number } | null;
}

/** Conditions, each answered by an index: of lists, and of the migrations 0011_state_counts and 0012_never_seen. */
const states = {
  connected: '"connected" = true',
  disabled: 'NOT "enabled"',
  /** Disabled or expired: with the index of the order ENABLED. */
  off: '("enabled" AND NOT "expired") = false',
  expired: '"expired" = true',
  running: '"running" = true',
  neverSeen: '"lastOnlineAt" IS NULL',
  online: '"clientOnline" = true',
  onlineButDisabled: 'NOT "enabled" AND "clientOnline"',
} as const;

type Counted = 'Client' | 'Tunnel' | 'Host' | 'User';

/**
 * Counts records. Totals of all records are stored; other numbers are counted in an index, without reading rows, at a cost proportional to the count or to the client's records.
 */
export async function countsOf(reader: HotReader, scope: CountScope): Promise<Counts> {
  const count = async (table: Counted, state?: keyof typeof states): Promise<number> => {
    const [row] = await reader.rows<{ total: number | bigint }>(countQuery(reader, table, scope, state));
    return Number(row?.total ?? 0);
  };
  const allRecords = scope.ownerId === undefined && scope.clientId === undefined;
  const kept = allRecords ? await keptTotals(reader) : undefined;
  const [clients, connected, neverSeen, off, expired, running, hosts, disabledHosts, onlineHosts, onlineButDisabled, byMode, users] = await Promise.all([
    kept?.get('clients') ?? count('Client'),
    count('Client', 'connected'),
    count('Client', 'neverSeen'),
    count('Client', 'off'),
    count('Client', 'expired'),
    count('Tunnel', 'running'),
    kept?.get('hosts') ?? count('Host'),
    count('Host', 'disabled'),
    count('Host', 'online'),
    count('Host', 'onlineButDisabled'),
    kept ? modesOf(kept) : tunnelModes(reader, scope),
    allRecords ? Promise.all([count('User', 'off'), count('User', 'expired')]) : null,
  ]);
  return {
    clients: { total: clients, connected, neverSeen, disabled: Math.max(0, off - expired), expired },
    tunnels: { total: Array.from(byMode.values()).reduce((sum, one) => sum + one, 0), running, byMode },
    // No index covers both, and few hosts are disabled.
    hosts: { total: hosts, serving: onlineHosts - onlineButDisabled, disabled: disabledHosts },
    users: users && { total: kept?.get('users') ?? 0, disabled: Math.max(0, users[0] - users[1]), expired: users[1] },
  };
}

/** The query for one number. Exported for the test that checks its query plan. */
export function countQuery({ dialect }: Pick<HotReader, 'dialect'>, table: Counted, scope: CountScope, state?: keyof typeof states): HotQuery {
  const binder = new Binder(dialect);
  const conditions = [...whose(binder, table, scope), ...(state === undefined ? [] : [states[state]])];
  return { text: `SELECT count(*) AS total FROM "${table}"${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`, values: binder.values };
}

function whose(binder: Binder, table: Counted, { ownerId, clientId }: CountScope): string[] {
  const [owner, client] = table === 'Client' ? ['userId', 'id'] : ['ownerId', 'clientId'];
  return [
    ...(ownerId === undefined ? [] : [`"${owner}" = ${binder.bind(ownerId)}`]),
    ...(clientId === undefined ? [] : [`"${client}" = ${binder.bind(clientId)}`]),
  ];
}

async function keptTotals(reader: HotReader): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.rows<{ name: string; value: number }>({ text: 'SELECT name, value FROM "Total"', values: [], bounded: true });
  return new Map(rows.map(({ name, value }) => [name, value]));
}

function modesOf(kept: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map(Array.from(kept).filter(([name]) => name.startsWith('tunnels:')).map(([name, value]) => [name.slice('tunnels:'.length), value]));
}

async function tunnelModes(reader: HotReader, scope: CountScope): Promise<ReadonlyMap<string, number>> {
  const binder = new Binder(reader.dialect);
  const text = `SELECT mode, count(*) AS total FROM "Tunnel" WHERE ${whose(binder, 'Tunnel', scope).join(' AND ')} GROUP BY mode`;
  const rows = await reader.rows<{ mode: string; total: number | bigint }>({ text, values: binder.values });
  return new Map(rows.map(({ mode, total }) => [mode, Number(total)]));
}
