import { type ClientState, type RefusalCause, refusalCauses, type Refusals } from '../../engine/face.ts';
import { effectiveExpiry } from '../../rules/expiry.ts';
import { type AccessLists, AddressSet, turnedAwayBy } from '../../rules/ip-access.ts';
import { canonicalAddress } from '../../rules/ip-address.ts';
import { splitIpList } from '../../rules/ip-list.ts';
import type { Client } from '../../store/generated/sqlite/client.ts';
import type { ClientWithOwner } from '../writes/changes.ts';
import { clientRuntime } from '../client/runtime.ts';
import type { Context } from '../context.ts';

/** The gates of a connection, in order. */
export const gateNames = ['ROUTE', 'CERTIFICATE', 'ENABLED', 'OWNER', 'QUOTA', 'ACCESS', 'AGENT', 'TARGET'] as const;

/** One check on the path of a connection, with its outcome. */
export interface Gate {
  readonly name: typeof gateNames[number];
  /** UNKNOWN = the arguments are not sufficient to decide. */
  readonly outcome: 'PASSED' | 'STOPPED' | 'UNKNOWN';
  /** The finding, for people. */
  readonly explanation: string;
  /** The remedy; "" = none is needed. */
  readonly remedy: string;
}

/** A gate that the connection passes. */
export function passed(name: Gate['name'], explanation: string): Gate {
  return { name, outcome: 'PASSED', explanation, remedy: '' };
}

/** A gate that stops the connection. */
export function stopped(name: Gate['name'], explanation: string, remedy: string): Gate {
  return { name, outcome: 'STOPPED', explanation, remedy };
}

/** A gate whose outcome is unknown. */
export function unknown(name: Gate['name'], explanation: string, remedy = ''): Gate {
  return { name, outcome: 'UNKNOWN', explanation, remedy };
}

/** Whether the rule or tunnel and its client are enabled. @param thing "host" or "tunnel" */
export function enabledGate(thing: string, enabled: boolean, client: Client): Gate {
  if (!enabled) return stopped('ENABLED', `the ${thing} is stopped`, `start the ${thing}`);
  if (!client.enabled) return stopped('ENABLED', `client ${client.id} is disabled`, `enable client ${client.id}`);
  return passed('ENABLED', `the ${thing} is started and client ${client.id} is enabled`);
}

/** Whether the owner is enabled, and neither owner nor client has expired (contract D13). */
export function ownerGate(client: ClientWithOwner, now: Date): Gate {
  const { user } = client;
  if (user !== null && !user.enabled) return stopped('OWNER', `the owner ${user.username} is disabled`, `enable the user ${user.username}`);
  if (user?.expiresAt && user.expiresAt <= now) {
    return stopped('OWNER', `the owner ${user.username} expired at ${user.expiresAt.toISOString()}`, `give the user ${user.username} a later expiry`);
  }
  if (client.expiresAt !== null && client.expiresAt <= now) {
    return stopped('OWNER', `client ${client.id} expired at ${client.expiresAt.toISOString()}`, `give client ${client.id} a later expiry`);
  }
  const expires = effectiveExpiry(client.expiresAt, user?.expiresAt);
  const until = expires === null ? 'does not expire' : `expires at ${expires.toISOString()}`;
  return passed('OWNER', `client ${client.id} belongs to ${user?.username ?? 'nobody'} and ${until}`);
}

/** Whether the client's limits of traffic and connections allow another connection (contract 4.9). */
export function quotaGate(client: Client, state: ClientState | undefined): Gate {
  const { inletBytes, exportBytes, connections } = clientRuntime(client, state);
  const megabytes = (inletBytes + exportBytes) / 2 ** 20;
  if (client.flowLimit > 0 && megabytes > client.flowLimit) {
    return stopped(
      'QUOTA',
      `client ${client.id} has used ${Math.floor(megabytes)} of ${client.flowLimit} MiB`,
      `raise the traffic limit of client ${client.id}`,
    );
  }
  if (client.maxConnections > 0 && connections >= client.maxConnections) {
    return stopped(
      'QUOTA',
      `client ${client.id} has ${connections} of ${client.maxConnections} connections`,
      `wait for one to end, or raise the limit of client ${client.id}`,
    );
  }
  return passed('QUOTA', `traffic and connections of client ${client.id} are within their limits`);
}

/** The gate for each cause of refusal. */
const refusedAt: Readonly<Record<RefusalCause, Gate['name']>> = {
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

/** Adds to each gate the number of refused connections by cause. @param refusals of the host or tunnel; undefined = not known */
export function withRefusals(gates: readonly Gate[], refusals: Refusals = {}): Gate[] {
  return gates.map((gate) => {
    const counts = refusalCauses.flatMap((cause) => refusedAt[cause] === gate.name && refusals[cause] ? [[cause, refusals[cause]] as const] : []);
    if (counts.length === 0) return gate;
    const all = counts.reduce((sum, [, count]) => sum + count, 0);
    const causes = counts.map(([cause, count]) => `${namesInTexts[cause] ?? cause} ${count}`).join(', ');
    return {
      ...gate,
      explanation: `${gate.explanation}; since the server started ${all} ${all === 1 ? 'connection was' : 'connections were'} refused here (${causes})`,
    };
  });
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
    explanation: `${gate.explanation}; these invalid lines are ignored: ${faults.join(', ')}`,
    remedy: gate.remedy === '' ? 'correct these lines: an address or a network like 192.0.2.0/24 each' : gate.remedy,
  };
}

function malformed(list: string, { malformed }: AddressSet): string[] {
  return malformed.map((line) => `"${line.slice(0, 50)}" of ${list}`).slice(0, 10);
}

function listGate({ id }: Client, address: string | undefined, lists: AccessLists): Gate {
  if (address === undefined) {
    const open = !lists.ipWhite && lists.globalBlackList.empty && lists.blackList.empty;
    return open
      ? passed('ACCESS', 'no list refuses visitors')
      : unknown('ACCESS', 'it depends on the address of the visitor', 'ask again with a visitor address');
  }
  if (canonicalAddress(address) === undefined) return unknown('ACCESS', 'the visitor address is not an IP address', 'ask again with an IP address');
  switch (turnedAwayBy(address, lists)) {
    case 'globalBlackList':
      return stopped('ACCESS', `${address} is on the global blocklist`, 'take it off the global blocklist');
    case 'whiteList':
      return stopped('ACCESS', `${address} is not on the allowlist of client ${id}`, `add it, or switch the allowlist of client ${id} off`);
    case 'blackList':
      return stopped('ACCESS', `${address} is on the blocklist of client ${id}`, `take it off the blocklist of client ${id}`);
    case undefined:
      return passed('ACCESS', `${address} is allowed`);
  }
}

/** Whether an agent, or the server itself, can dial the target. */
export function agentGate({ settings }: Context, client: Client, state: ClientState | undefined, localProxy: boolean): Gate {
  if (localProxy && settings.allowLocalProxy) return passed('AGENT', 'the server dials the target itself');
  if (localProxy) {
    return stopped(
      'AGENT',
      'the server would have to dial the target itself, but its settings do not allow that',
      'set allow_local_proxy, or switch localProxy off',
    );
  }
  if (state?.connected) return passed('AGENT', `the agent of client ${client.id} is connected from ${state.address}`);
  return stopped(
    'AGENT',
    `the agent of client ${client.id} is not connected`,
    'start the agent with the verification key of this client, and see that it reaches the bridge port',
  );
}
