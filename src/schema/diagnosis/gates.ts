import { type ClientState, type RefusalCause, refusalCauses, type Refusals } from '../../engine/face.ts';
import { effectiveExpiry } from '../../rules/expiry.ts';
import { type AccessLists, AddressSet, turnedAwayBy } from '../../rules/ip-access.ts';
import { canonicalAddress } from '../../rules/ip-address.ts';
import type { Refusal } from '../../rules/visitor-refusals.ts';
import { splitIpList } from '../../rules/ip-list.ts';
import type { Client } from '../../store/generated/sqlite/client.ts';
import type { ClientWithOwner } from '../writes/changes.ts';
import { clientRuntime } from '../client/runtime.ts';
import type { Context } from '../context.ts';
import { found, type Finding, findingText, fix, type Fix } from './findings.ts';

/** The gates of a connection, in order. The first one only exists in diagnoses of hosts that look the name up. */
export const gateNames = ['NAME_AND_PORT', 'ROUTE', 'CERTIFICATE', 'ENABLED', 'OWNER', 'QUOTA', 'ACCESS', 'AGENT', 'TARGET'] as const;

type GateName = typeof gateNames[number];

/** One check on the path of a connection, with its outcome. */
export interface Gate {
  readonly name: GateName;
  /** UNKNOWN = the arguments are not sufficient to decide. */
  readonly outcome: 'PASSED' | 'STOPPED' | 'UNKNOWN';
  /** At least one; the first determines the outcome. */
  readonly findings: readonly Finding[];
  /** null = there is nothing to fix. */
  readonly fix: Fix | null;
  /** The connections that were refused here, by cause. */
  readonly refusals: Refusals;
  /** Of a host: the page that visitors see if the gate stops them. Absent or null = they see none. */
  readonly page?: Refusal | null;
}

/** A gate that the connection passes. */
export function passed(name: GateName, ...all: readonly Finding[]): Gate {
  return { name, outcome: 'PASSED', findings: all, fix: null, refusals: {} };
}

/** A gate that stops the connection. */
export function stopped(name: GateName, finding: Finding, way: Fix): Gate {
  return { name, outcome: 'STOPPED', findings: [finding], fix: way, refusals: {} };
}

/** A gate whose outcome is unknown. */
export function unknown(name: GateName, finding: Finding, way: Fix | null = null): Gate {
  return { name, outcome: 'UNKNOWN', findings: [finding], fix: way, refusals: {} };
}

/** Whether the rule or tunnel and its client are enabled. */
export function enabledGate(thing: 'host' | 'tunnel', enabled: boolean, { id: clientId, enabled: clientEnabled }: Client): Gate {
  const isHost = thing === 'host';
  if (!enabled) return isHost ? stopped('ENABLED', found('HOST_STOPPED'), fix('START_HOST')) : stopped('ENABLED', found('TUNNEL_STOPPED'), fix('START_TUNNEL'));
  if (!clientEnabled) return stopped('ENABLED', found('CLIENT_DISABLED', { clientId }), fix('ENABLE_CLIENT', { clientId }));
  return passed('ENABLED', found(isHost ? 'HOST_STARTED' : 'TUNNEL_STARTED', { clientId }));
}

/** Whether the owner is enabled, and neither owner nor client has expired (contract D13). */
export function ownerGate({ id: clientId, user, expiresAt }: ClientWithOwner, now: Date): Gate {
  const owner = user?.username;
  if (user !== null && owner !== undefined) {
    if (!user.enabled) return stopped('OWNER', found('OWNER_DISABLED', { owner }), fix('ENABLE_OWNER', { owner }));
    if (user.expiresAt && user.expiresAt <= now) {
      return stopped('OWNER', found('OWNER_EXPIRED', { owner, at: user.expiresAt.toISOString() }), fix('EXTEND_OWNER', { owner }));
    }
  }
  if (expiresAt !== null && expiresAt <= now) {
    return stopped('OWNER', found('CLIENT_EXPIRED', { clientId, at: expiresAt.toISOString() }), fix('EXTEND_CLIENT', { clientId }));
  }
  const at = effectiveExpiry(expiresAt, user?.expiresAt)?.toISOString();
  if (owner === undefined) return passed('OWNER', at === undefined ? found('UNASSIGNED', { clientId }) : found('UNASSIGNED_UNTIL', { clientId, at }));
  return passed('OWNER', at === undefined ? found('OWNED', { clientId, owner }) : found('OWNED_UNTIL', { clientId, owner, at }));
}

/** Whether the client's limits of traffic and connections allow another connection (contract 4.9). */
export function quotaGate(client: Client, state: ClientState | undefined): Gate {
  const { id: clientId, flowLimit, maxConnections } = client;
  const { inletBytes, exportBytes, connections } = clientRuntime(client, state);
  const megabytes = (inletBytes + exportBytes) / 2 ** 20;
  if (flowLimit > 0 && megabytes > flowLimit) {
    return stopped('QUOTA', found('TRAFFIC_USED_UP', { clientId, used: Math.floor(megabytes), limit: flowLimit }), fix('RAISE_TRAFFIC', { clientId }));
  }
  if (maxConnections > 0 && connections >= maxConnections) {
    return stopped('QUOTA', found('CONNECTIONS_USED_UP', { clientId, used: connections, limit: maxConnections }), fix('RAISE_CONNECTIONS', { clientId }));
  }
  return passed('QUOTA', found('WITHIN_LIMITS', { clientId }));
}

/** The gate for each cause of refusal. */
const refusedAt: Readonly<Record<RefusalCause, GateName>> = {
  malformed: 'ROUTE',
  disabled: 'ENABLED',
  expired: 'OWNER',
  flow: 'QUOTA',
  connections: 'QUOTA',
  capacity: 'QUOTA',
  agentCapacity: 'QUOTA',
  globalBlackList: 'ACCESS',
  whiteList: 'ACCESS',
  blackList: 'ACCESS',
  login: 'ACCESS',
  offline: 'AGENT',
  localProxy: 'AGENT',
  noTarget: 'TARGET',
};

/** The names of causes in explanations, where they differ from those in the program. */
const namesInTexts: Readonly<Partial<Record<RefusalCause, string>>> = { globalBlackList: 'globalBlocklist', whiteList: 'allowlist', blackList: 'blocklist' };

/** Adds to each gate the connections that were refused there. @param refusals of the host or tunnel; undefined = not known */
export function withRefusals(gates: readonly Gate[], refusals: Refusals = {}): Gate[] {
  return gates.map((gate) => ({
    ...gate,
    refusals: Object.fromEntries(refusalCauses.flatMap((cause) => refusedAt[cause] === gate.name && refusals[cause] ? [[cause, refusals[cause]]] : [])),
  }));
}

/** The English text of everything that a gate has found. */
export function explanationOf({ findings, refusals }: Gate): string {
  const texts = findings.map(findingText);
  const counts = refusalCauses.flatMap((cause) => refusals[cause] === undefined ? [] : [[cause, refusals[cause]] as const]);
  if (counts.length > 0) {
    const all = counts.reduce((sum, [, count]) => sum + count, 0);
    const causes = counts.map(([cause, count]) => `${namesInTexts[cause] ?? cause} ${count}`).join(', ');
    texts.push(`since the server started ${all} ${all === 1 ? 'connection was' : 'connections were'} refused here (${causes})`);
  }
  return texts.join('; ');
}

/** Whether a visitor is admitted (contract 4.9). @param address undefined = any */
export async function accessGate({ store, engine, caller }: Context, client: Client, address: string | undefined): Promise<Gate> {
  const globals = await store.db.globalSettings.findUnique({ where: { id: 1 } });
  const lists = {
    globalBlackList: await AddressSet.gradually(splitIpList(globals?.blackIpList ?? '')),
    ipWhite: client.ipWhite,
    whiteList: await AddressSet.gradually(splitIpList(client.ipWhiteList)),
    blackList: await AddressSet.gradually(splitIpList(client.blackIpList)),
  };
  const faults = [
    ...malformed('the allowlist', lists.whiteList),
    ...malformed('the blocklist', lists.blackList),
    ...caller.kind === 'admin' ? malformed('the global blocklist', lists.globalBlackList) : [],
  ];
  const allowedByPassword = address !== undefined && client.ipWhite && await engine.isAllowedByPassword(client.id, address);
  const gate = listGate(client, address, { ...lists, ipWhite: client.ipWhite && !allowedByPassword });
  return faults.length === 0 ? gate : {
    ...gate,
    findings: [...gate.findings, found('INVALID_LINES', { lines: faults.join(', ') })],
    fix: gate.fix ?? fix('CORRECT_LINES'),
  };
}

function malformed(list: string, { malformed }: AddressSet): string[] {
  return malformed.map((line) => `"${line.slice(0, 50)}" of ${list}`);
}

function listGate({ id: clientId }: Client, address: string | undefined, lists: AccessLists): Gate {
  if (address === undefined) {
    const open = !lists.ipWhite && lists.globalBlackList.empty && lists.blackList.empty;
    return open ? passed('ACCESS', found('NO_LISTS')) : unknown('ACCESS', found('ADDRESS_NEEDED'), fix('GIVE_ADDRESS'));
  }
  if (canonicalAddress(address) === undefined) return unknown('ACCESS', found('ADDRESS_INVALID'), fix('GIVE_IP_ADDRESS'));
  switch (turnedAwayBy(address, lists)) {
    case 'globalBlackList':
      return stopped('ACCESS', found('ON_GLOBAL_BLOCKLIST', { address }), fix('LEAVE_GLOBAL_BLOCKLIST'));
    case 'whiteList':
      return stopped('ACCESS', found('NOT_ON_ALLOWLIST', { address, clientId }), fix('ADD_TO_ALLOWLIST', { clientId }));
    case 'blackList':
      return stopped('ACCESS', found('ON_BLOCKLIST', { address, clientId }), fix('LEAVE_BLOCKLIST', { clientId }));
    case undefined:
      return passed('ACCESS', found('ADDRESS_ALLOWED', { address }));
  }
}

/** Whether an agent, or the server itself, can dial the target. */
export function agentGate({ settings }: Context, { id: clientId }: Client, state: ClientState | undefined, localProxy: boolean): Gate {
  if (localProxy && settings.allowLocalProxy) return passed('AGENT', found('SERVER_DIALS'));
  if (localProxy) return stopped('AGENT', found('LOCAL_PROXY_OFF'), fix('ALLOW_LOCAL_PROXY'));
  if (state?.connected) return passed('AGENT', found('AGENT_CONNECTED', { clientId, address: state.address }));
  return stopped('AGENT', found('AGENT_AWAY', { clientId }), fix('START_AGENT'));
}
