import type { Logger } from 'pino';
import type { Departure } from './departure.ts';
import type { BridgeAddress } from './engine/bridge/bridge.ts';
import type { Engine } from './engine/engine.ts';
import type { NodePeer } from './engine/nodes/node-link.ts';
import { type InstallationKeys, KeyLostError } from './installation-keys.ts';
import { reportNode } from './node-reports.ts';
import { awakeNow } from './rules/awake-clock.ts';
import type { Services } from './schema/services.ts';
import { deleteLeftRecords } from './schema/writes/left-records.ts';
import { SettingsError } from './settings/settings-error.ts';
import type { Settings } from './settings/settings.ts';
import type { NodeState } from './store/nodes.ts';
import type { Store } from './store/store.ts';
import { version } from './version.ts';

/**
 * The other servers that are running on the database.
 * @param name this server's own @param siblings the other processes of this one @throws {SettingsError} if they can't reach each other
 */
export async function otherServers(
  store: Store,
  name: string,
  siblings: ReadonlySet<string>,
  { nodeAddress }: Pick<Settings, 'nodeAddress'>,
): Promise<readonly NodeState[]> {
  const all = (await store.nodes()).filter((node) => node.alive && node.name !== name);
  const others = all.filter((node) => !siblings.has(node.name));
  const [first] = others;
  if (first === undefined) return all;
  if (nodeAddress === '') {
    throw new SettingsError([`node_address: the server ${first.name} is running on the database: set the address at which it reaches this server`]);
  }
  const unreachable = others.find(({ address }) => address === '');
  if (unreachable) {
    throw new SettingsError([
      `the server ${unreachable.name} is running on the database without ADIT_NODE_ADDRESS: set it there, so that this server can reach it`,
    ]);
  }
  return all;
}

/** How much the clock of this machine may differ from the database's before the log says so, in ms. */
const CLOCKS_MS = 5000;

/** The clock that the servers on a database have in common: ms since the epoch. That of this machine may be wrong, of which the operator is warned. */
export async function commonClock({ node }: { readonly node: Pick<Store['node'], 'clock'> }, log: Logger): Promise<() => number> {
  const clock = await node.clock();
  const ahead = Math.round((Date.now() - clock()) / 1000);
  if (Math.abs(ahead) * 1000 > CLOCKS_MS) {
    log.warn(
      { seconds: Math.abs(ahead) },
      `the clock of this machine is ${
        ahead > 0 ? 'ahead of' : 'behind'
      } that of the database: set it, or this server accepts logins, tokens and signatures, and ends clients, at another time than others`,
    );
  }
  return clock;
}

/** Where processes of one machine reach each other, whose bridges listen on all addresses. */
export const LOOPBACK = '127.0.0.1';

/** Addresses to listen on that are not those of one place. */
const ANY: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** How long a server that starts waits for what others tell, in ms. */
const ACQUAINTANCE_MS = 5000;

/** What a server needs to join the others. */
export interface JoinParts {
  readonly services: Services;
  readonly engine: Engine;
  /** This server's name. */
  readonly name: string;
  /** The names of the other processes of this one. */
  readonly siblings: ReadonlySet<string>;
  readonly bridge: BridgeAddress;
  readonly settings: Pick<Settings, 'nodeAddress' | 'bridgeHost'>;
  readonly departure: Departure;
  readonly log: Logger;
  /** The key of the installation; undefined = this is SQLite. */
  readonly keys: InstallationKeys | undefined;
  /** This server must end: another one has taken its name, has changed the key of the installation without it, or has migrated the database for a later version. */
  readonly onEnd: (error: Error) => void;
}

/**
 * Says on the database that this server is running, and where others reach it, and connects to them.
 * @returns says that it has ended @throws {SettingsError} if another one was started at the same time, and they can't reach each other
 */
export async function joinServers(
  { services, engine, keys, name, siblings, bridge, settings, departure, log, onEnd }: JoinParts,
): Promise<() => Promise<void>> {
  const { store } = services;
  const { nodeAddress, bridgeHost } = settings;
  const { port: bridgePort, linkPort, tls: { port: tlsPort } } = bridge;
  const joiningAt = awakeNow();
  const startedAt = await store.node.join({ name, address: nodeAddress === '' ? '' : `${nodeAddress}:${bridgePort}`, linkPort, tlsPort, version });
  await otherServers(store, name, siblings, settings);
  const near = nodeAddress === '' || ANY.has(bridgeHost) ? LOOPBACK : bridgeHost;
  if (nodeAddress !== '' || siblings.size > 0) engine.nodes?.open({ host: nodeAddress || near, port: linkPort, bridgePort, tlsPort }, startedAt.getTime());
  const followKey = async (): Promise<void> => {
    try {
      await keys?.follow(name);
    } catch (error) {
      if (error instanceof KeyLostError) onEnd(error);
      throw error;
    }
    if (keys) engine.nodes?.useKey(keys.links.current, keys.links.next);
  };
  /** The servers that could not reach this one at the last look. */
  let unreachableFrom = '';
  const tellUnreachable = (nodes: readonly NodeState[]): void => {
    const by = nodes.find((node) => node.name === name)?.unreachableFrom ?? [];
    const names = by.map(({ node }) => node);
    if (names.join() === unreachableFrom) return;
    unreachableFrom = names.join();
    if (names.length === 0) log.info('all other servers can reach this one again');
    else {
      log.warn(
        { nodes: names, problem: by[0]?.problem, address: nodeAddress },
        'other servers cannot reach this one: their visitors do not reach the agents that are connected here. Check ADIT_NODE_ADDRESS, and the firewall',
      );
    }
  };
  /** The servers that were running when the last state of ended ones was cleared. */
  let cleared = '';
  const look = async (reportedAt: number): Promise<void> => {
    if (!engine.nodes) return;
    await followKey();
    const nodes = await store.nodes();
    tellUnreachable(nodes);
    engine.nodes.use(nodes.flatMap((node) => placesOf(siblings.has(node.name) ? { ...node, address: `${near}:${bridgePort}` } : node)), reportedAt);
    // One that can be reached, but can't reach the database itself, goes on serving its agents.
    const reached = new Set(Array.from(engine.nodes.links(), ({ peer }) => peer.name));
    const running = nodes.filter((node) => node.alive || reached.has(node.name)).map((node) => node.name);
    if (running.join() === cleared || !store.leads()) return;
    await store.forgetRunningState(running);
    await deleteLeftRecords(services, running);
    cleared = running.join();
  };
  await look(joiningAt);
  // Before that, the clients of the others seem to be away.
  const silent = await engine.nodes?.acquainted(ACQUAINTANCE_MS) ?? [];
  if (silent.length > 0) {
    log.warn(
      { nodes: silent, address: nodeAddress },
      'other servers have not reported their agents yet; their clients seem to be away until then. If that lasts, they cannot reach this one: check ADIT_NODE_ADDRESS',
    );
  }
  const figures = () => ({ ...engine.served, lagMs: store.follower.figures.lagMs, stopping: departure.stopping, unreached: engine.nodes?.unreached ?? [] });
  const reports = reportNode({ node: store.node, figures, onReported: look, onDraining: (on) => departure.drain(on), log, onReplaced: onEnd });
  services.changes.subscribe(({ resource }) => {
    if (resource === 'node') reports.now();
  });
  return () => reports.stop();
}

/** Where a server can be reached by others; [] = it is not running, or cannot be reached. */
function placesOf({ alive, name, address, linkPort, tlsPort }: NodeState): NodePeer[] {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[(.*)\]$/, '$1');
  return alive && host !== '' && linkPort > 0 ? [{ name, host, port: linkPort, bridgePort: Number(address.slice(at + 1)), tlsPort: tlsPort || linkPort }] : [];
}
