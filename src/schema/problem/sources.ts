import type { EngineFace, Troubles } from '../../engine/face.ts';
import type { Attempts } from '../../rules/attempts.ts';
import type { Client } from '../../store/generated/sqlite/client.ts';
import type { CountScope } from '../../store/hot/counts.ts';
import type { ProblemListName } from '../../store/hot/problem-lists.ts';
import type { Store } from '../../store/store.ts';
import { certificateProblems, isBroken, type Problem, problem } from './codes.ts';

/** What problems are read from. */
export interface BoardParts {
  readonly store: Store;
  readonly engine: EngineFace;
  readonly attempts: Attempts;
  /** ms since the epoch */
  readonly now: () => number;
}

/** The records that a caller sees. */
export interface Scope extends CountScope {
  readonly isAdministrator: boolean;
}

/** A part of a list. */
export interface Range {
  readonly offset: number;
  readonly limit: number;
}

/** Problems of one kind. */
interface Source {
  readonly isBroken: boolean;
  readonly count: () => Promise<number>;
  readonly rows: (range: Range) => Promise<readonly Problem[]>;
}

/** How long before an expiry it is a problem, and how long after it, in ms. */
export const expiryMs = 7 * 86_400_000;
const mebibyte = 2 ** 20;

/** All kinds of problems of a caller, in the order of the list. @param troubles of the caller's records */
export function sourcesOf(parts: BoardParts, scope: Scope, troubles: Troubles): Source[] {
  const now = parts.now();
  const soon = new Date(now + expiryMs);
  const { certificates, unhealthyTunnels, unhealthyHosts } = troubles;
  const certificate = (areBroken: boolean) => certificates.filter(({ status }) => isBroken(certificateProblems[status]) === areBroken);
  const own = scope.clientId === undefined;
  return [
    clientsWith(
      parts,
      'away',
      true,
      scope,
      undefined,
      (client) => problem({ kind: 'client', id: client.id }, client.lastOnlineAt, 'AGENT_AWAY', { parts: client.tunnelCount }),
    ),
    closedTunnels(parts, scope),
    clientsWith(
      parts,
      'expired',
      true,
      scope,
      new Date(now - expiryMs),
      (client) => problem({ kind: 'client', id: client.id }, client.expiresAt, 'CLIENT_EXPIRED', { at: iso(client.expiresAt) }),
    ),
    clientsWith(
      parts,
      'trafficUsedUp',
      true,
      scope,
      undefined,
      (client) => problem({ kind: 'client', id: client.id }, null, 'TRAFFIC_USED_UP', trafficOf(client)),
    ),
    tunnelsWithoutTarget(parts, scope, unhealthyTunnels),
    hostsWithoutTarget(parts, scope, unhealthyHosts),
    hostsWithCertificate(parts, scope, certificate(true), true),
    hostsWithCertificate(parts, scope, certificate(false), false),
    clientsWith(
      parts,
      'trafficNearlyUsedUp',
      false,
      scope,
      undefined,
      (client) => problem({ kind: 'client', id: client.id }, null, 'TRAFFIC_NEARLY_USED_UP', trafficOf(client)),
    ),
    clientsWith(
      parts,
      'expiring',
      false,
      scope,
      soon,
      (client) => problem({ kind: 'client', id: client.id }, null, 'CLIENT_EXPIRES', { at: iso(client.expiresAt) }),
    ),
    ...(own ? [expiringUsers(parts, scope, soon)] : []),
    clientsWith(
      parts,
      'tunnelsUsedUp',
      false,
      scope,
      undefined,
      (client) => problem({ kind: 'client', id: client.id }, null, 'TUNNELS_USED_UP', { used: client.tunnelCount, limit: client.maxTunnels }),
    ),
    ...(scope.isAdministrator ? [lockouts(parts, now)] : []),
  ];
}

function clientsWith(
  { store }: BoardParts,
  name: Exclude<ProblemListName, 'closedTunnels' | 'expiringUsers'>,
  areBroken: boolean,
  scope: Scope,
  moment: Date | undefined,
  problemOf: (client: Client) => Problem,
): Source {
  const query = { scope, ...(moment && { moment }) };
  return {
    isBroken: areBroken,
    count: () => store.problemCount(name, query),
    rows: async (range) => (await store.problemRows(name, { ...query, ...range })).map(problemOf),
  };
}

function closedTunnels({ store, engine }: BoardParts, scope: Scope): Source {
  return {
    isBroken: true,
    count: () => store.problemCount('closedTunnels', { scope }),
    rows: async (range) => {
      const tunnels = await store.problemRows('closedTunnels', { scope, ...range });
      const states = await engine.tunnelStates(tunnels.map(({ id }) => id));
      return tunnels.map((tunnel, index) => problem({ kind: 'tunnel', id: tunnel.id }, null, 'TUNNEL_CLOSED', { problem: states[index]?.error ?? '' }));
    },
  };
}

function expiringUsers({ store }: BoardParts, scope: Scope, moment: Date): Source {
  return {
    isBroken: false,
    count: () => store.problemCount('expiringUsers', { scope, moment }),
    rows: async (range) =>
      (await store.problemRows('expiringUsers', { scope, moment, ...range })).map((user) =>
        problem({ kind: 'user', id: user.id }, null, 'USER_EXPIRES', { at: iso(user.expiresAt) })
      ),
  };
}

function lockouts({ attempts }: BoardParts, now: number): Source {
  const count = attempts.lockouts(now).length;
  return {
    isBroken: false,
    count: async () => count > 0 ? 1 : 0,
    rows: async () => count > 0 ? [problem({ kind: 'server', id: 0 }, null, 'LOCKED_OUT', { count })] : [],
  };
}

function hostsWithCertificate({ store, engine }: BoardParts, scope: Scope, all: Troubles['certificates'], areBroken: boolean): Source {
  return {
    isBroken: areBroken,
    count: async () => all.length,
    rows: async ({ offset, limit }) => {
      const statuses = new Map(all.slice(offset, offset + limit).map(({ id, status }) => [id, status]));
      const hosts = visible(scope, await store.byIds('Host', [...statuses.keys()]));
      const states = await engine.hostCertificates(hosts.map(({ id }) => ({ id })));
      return hosts.map((host, index) => {
        const { problem: why = '', inUse, acme } = states[index] ?? {};
        const params = { problem: why === '' ? acme?.problem ?? '' : why, at: iso(inUse?.validTo ?? null) };
        return {
          of: { kind: 'host', id: host.id },
          since: null,
          code: certificateProblems[statuses.get(host.id) ?? 'missing'],
          params,
          isAcme: acme?.status === 'failed',
        };
      });
    },
  };
}

function hostsWithoutTarget({ store, engine }: BoardParts, scope: Scope, all: Troubles['unhealthyHosts']): Source {
  return {
    isBroken: true,
    count: async () => all.length,
    rows: async ({ offset, limit }) => {
      const hosts = visible(scope, await store.byIds('Host', all.slice(offset, offset + limit).map(({ id }) => id)));
      const states = await engine.hostStates(hosts.map(({ id }) => id));
      return hosts.map((host, index) =>
        problem({ kind: 'host', id: host.id }, sinceOf(states[index]), 'TARGETS_UNHEALTHY', { problem: firstErrorOf(states[index]) })
      );
    },
  };
}

function tunnelsWithoutTarget({ store, engine }: BoardParts, scope: Scope, all: Troubles['unhealthyTunnels']): Source {
  return {
    isBroken: true,
    count: async () => all.length,
    rows: async ({ offset, limit }) => {
      const tunnels = visible(scope, await store.byIds('Tunnel', all.slice(offset, offset + limit).map(({ id }) => id)));
      const states = await engine.tunnelStates(tunnels.map(({ id }) => id));
      return tunnels.map((tunnel, index) =>
        problem({ kind: 'tunnel', id: tunnel.id }, sinceOf(states[index]), 'TARGETS_UNHEALTHY', { problem: firstErrorOf(states[index]) })
      );
    },
  };
}

/** A record may have got another owner since the engine was asked. */
function visible<Row extends { readonly ownerId: number | null; readonly clientId: number }>({ ownerId, clientId }: Scope, rows: readonly Row[]): Row[] {
  return rows.filter((row) => (ownerId ?? row.ownerId) === row.ownerId && (clientId ?? row.clientId) === row.clientId);
}

function trafficOf({ inletBytes, exportBytes, flowLimit }: Client) {
  return { used: Number(inletBytes + exportBytes), limit: flowLimit * mebibyte };
}

function iso(at: Date | null): string {
  return at?.toISOString() ?? '';
}

type Checked = {
  readonly health: {
    readonly targets: ReadonlyArray<{ readonly healthy: boolean; readonly since: number | null; readonly target: string; readonly lastError: string }>;
  } | null;
} | undefined;

function sinceOf(state: Checked): Date | null {
  const times = (state?.health?.targets ?? []).flatMap(({ since }) => since === null ? [] : [since]);
  return times.length === 0 ? null : new Date(Math.max(...times));
}

function firstErrorOf(state: Checked): string {
  const failing = state?.health?.targets.find(({ healthy }) => !healthy);
  return failing === undefined ? '' : `${failing.target}: ${failing.lastError}`;
}
