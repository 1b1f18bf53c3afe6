import { Binder, type HotQuery } from './binder.ts';
import type { HotReader } from './reader.ts';

/** Whose records are counted; {} = everybody's. */
export interface CountScope {
  readonly ownerId?: number;
  readonly clientId?: number;
}

/** How many records there are, and in which state. Of the running state it is what was saved last. */
export interface Counts {
  readonly clients: { readonly total: number; readonly connected: number; readonly disabled: number; readonly expired: number };
  readonly tunnels: { readonly total: number; readonly running: number; readonly byMode: ReadonlyMap<string, number> };
  readonly hosts: { readonly total: number; readonly disabled: number };
  /** null = they are counted for everybody's records alone */
  readonly users: { readonly total: number; readonly disabled: number; readonly expired: number } | null;
}

/** Conditions, each answered by an index: of lists, and for `disabled` of migration 0011_state_counts. */
const states = { connected: '"connected" = true', disabled: 'NOT "enabled"', expired: '"expired" = true', running: '"running" = true' } as const;

type Counted = 'Client' | 'Tunnel' | 'Host' | 'User';

/**
 * Counts records. Totals of everybody's records are kept; all other numbers are read from an index, no rows, in proportion to what they count, or to what the client has.
 */
export async function countsOf(reader: HotReader, scope: CountScope): Promise<Counts> {
  const count = async (table: Counted, state?: keyof typeof states): Promise<number> => {
    const [row] = await reader.rows<{ total: number | bigint }>(countQuery(reader, table, scope, state));
    return Number(row?.total ?? 0);
  };
  const everybody = scope.ownerId === undefined && scope.clientId === undefined;
  const kept = everybody ? await keptTotals(reader) : undefined;
  const [clients, connected, disabled, expired, running, hosts, disabledHosts, byMode, users] = await Promise.all([
    kept?.get('clients') ?? count('Client'), count('Client', 'connected'), count('Client', 'disabled'), count('Client', 'expired'),
    count('Tunnel', 'running'), kept?.get('hosts') ?? count('Host'), count('Host', 'disabled'),
    kept ? modesOf(kept) : tunnelModes(reader, scope),
    everybody ? Promise.all([count('User', 'disabled'), count('User', 'expired')]) : null,
  ]);
  return {
    clients: { total: clients, connected, disabled, expired },
    tunnels: { total: Array.from(byMode.values()).reduce((sum, one) => sum + one, 0), running, byMode },
    hosts: { total: hosts, disabled: disabledHosts },
    users: users && { total: kept?.get('users') ?? 0, disabled: users[0], expired: users[1] },
  };
}

/** The query of one number. Exported for the test that looks at its plan. */
export function countQuery({ dialect }: Pick<HotReader, 'dialect'>, table: Counted, scope: CountScope, state?: keyof typeof states): HotQuery {
  const binder = new Binder(dialect);
  const conditions = [...whose(binder, table, scope), ...(state === undefined ? [] : [states[state]])];
  return { text: `SELECT count(*) AS total FROM "${table}"${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`, values: binder.values };
}

function whose(binder: Binder, table: Counted, { ownerId, clientId }: CountScope): string[] {
  const [owner, client] = table === 'Client' ? ['userId', 'id'] : ['ownerId', 'clientId'];
  return [...(ownerId === undefined ? [] : [`"${owner}" = ${binder.bind(ownerId)}`]), ...(clientId === undefined ? [] : [`"${client}" = ${binder.bind(clientId)}`])];
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
