import process from 'node:process';
import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';
import { Agent, type AgentOptions } from '../../src/agent/agent.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { EngineOptions, StoredState } from '../../src/engine/engine-options.ts';
import type { BridgeAddress } from '../../src/engine/bridge/bridge.ts';
import type { WantedClient, WantedHost, WantedTunnel } from '../../src/engine/face.ts';
import type { StoredBytes } from '../../src/engine/limits/meter.ts';
import { transportOf } from '../../src/rules/tunnel-mode.ts';
import { BACKEND_NAMES, socketsBy } from '../../src/wire/backends.ts';
import { covering } from './certificates.ts';
import { LogRecorder } from './log-recorder.ts';

/** The way to get sockets that the program chooses here; `ADIT_TEST_SOCKETS` for another one. */
const usual = BACKEND_NAMES.find((name) => name === process.env['ADIT_TEST_SOCKETS']) ?? 'captured';
/** Those of engines and agents under test, unless a test says otherwise. */
let sockets = await socketsBy(usual);

/** Runs tests with each socket backend, one after another. */
export function onEveryBackend(tests: () => void, names: typeof BACKEND_NAMES | readonly ['captured'] = BACKEND_NAMES): void {
  describe.each(names)('with sockets by %s', (name) => {
    beforeAll(async () => {
      sockets = await socketsBy(name);
    });
    afterAll(async () => {
      sockets = await socketsBy(usual);
    });
    tests();
  });
}

/** The suites run on the second of two nodes: `ADIT_TEST_ON=second-of-two npm test -- test/engine/`. */
const onSecondNode = process.env['ADIT_TEST_ON'] === 'second-of-two';

const running: Array<() => Promise<unknown>> = [];

afterEach(async () => {
  for (const stop of running.splice(0).toReversed()) await stop();
});

/** An engine under test, its bridge open. */
export interface TestEngine {
  readonly engine: Engine;
  readonly bridge: BridgeAddress;
  readonly log: LogRecorder;
}

/** The client that `startEngine` loads by default. */
export const CLIENT: WantedClient = {
  id: 1,
  vkey: 'the-first-vkey',
  enabled: true,
  expiresAt: null,
  basicUser: '',
  basicPassword: '',
  crypt: false,
  compress: false,
  configAllowed: false,
  rateLimit: 0,
  flowLimit: 0,
  maxConnections: 0,
  blackIpList: '',
  ipWhite: false,
  ipWhiteList: '',
  ipWhitePassword: '',
};

/** A stored client or tunnel that has moved no bytes yet. */
export const fresh = { inletBytes: 0, exportBytes: 0 };

/** What an engine starts with, each record with its totals. */
interface Stored extends Partial<Pick<StoredState, 'blackIpList' | 'serverName'>> {
  readonly clients?: ReadonlyArray<WantedClient & StoredBytes & { readonly lastAddress?: string }>;
  readonly tunnels?: ReadonlyArray<WantedTunnel & StoredBytes>;
  readonly hosts?: ReadonlyArray<WantedHost & StoredBytes>;
}

/** The stored state in the form of the engine; left out = {@link CLIENT} and nothing else. */
export function storedState({ clients = [{ ...CLIENT, ...fresh }], tunnels = [], hosts = [], blackIpList = [], serverName = '' }: Stored = {}): StoredState {
  const record = <Each extends StoredBytes>(wanted: Each) => ({ wanted, stored: wanted });
  return {
    clients: [clients.map((client) => ({ ...record(client), lastAddress: client.lastAddress ?? '' }))],
    tunnels: [tunnels.map(record)],
    hosts: [hosts.map(record)],
    blackIpList,
    serverName,
  };
}

type StartedEngine = Partial<EngineOptions> & { readonly stored?: Stored };

/** Starts an engine on ephemeral ports; it is closed when the test is done. With `ADIT_TEST_ON=second-of-two`, it is the second of two nodes that know the same records, unless `node` is given: undefined = it is alone. */
export async function startEngine(options: StartedEngine = {}): Promise<TestEngine> {
  if (!onSecondNode || 'node' in options) return startOne(options);
  const node = (name: string) => ({ node: { name, version: '0.0.1', key: 'the secret of both' } });
  const stored = { ...options.stored, tunnels: options.stored?.tunnels?.map(atFirst) ?? [] };
  const nodes = [
    await startOne({ ...options, ...node('first'), stored, bridgePort: 0, bridgeTls: { port: 0, identity: covering } }),
    await startOne({ ...options, ...node('second') }),
  ] as const;
  const [first, second] = nodes;
  // As the log of changes does.
  const apply = second.engine.apply.bind(second.engine);
  second.engine.apply = async (change) => {
    await first.engine.apply(change.kind === 'tunnel' ? { kind: 'tunnel', tunnel: atFirst(change.tunnel) } : change);
    await apply(change);
  };
  const peers = nodes.map(({ bridge }, index) => ({
    name: index === 0 ? 'first' : 'second',
    host: '127.0.0.1',
    port: bridge.tls.port,
    bridgePort: bridge.port,
  }));
  for (const [index, { engine }] of nodes.entries()) {
    const own = peers[index];
    if (own) engine.nodes?.open(own, 0);
    engine.nodes?.use(peers, performance.now());
  }
  for (const { engine } of nodes) await engine.nodes?.acquainted(5000);
  return second;
}

/** Nodes on one machine listen on different addresses. */
function atFirst<Tunnel extends WantedTunnel>(tunnel: Tunnel): Tunnel {
  return { ...tunnel, serverIp: '127.0.9.9' };
}

async function startOne(options: StartedEngine): Promise<TestEngine> {
  const log = new LogRecorder();
  const engine = new Engine({
    bridgeHost: '127.0.0.1',
    bridgePort: 0,
    bridgeTls: { port: 0, identity: covering },
    p2pPort: 0,
    allowPorts: [],
    log: log.logger,
    sockets,
    ...options,
  });
  running.push(() => engine.close());
  await engine.load(storedState(options.stored));
  return { engine, bridge: await engine.listen(), log };
}

/** What an agent is to connect to. */
interface Reached {
  readonly bridge: Pick<BridgeAddress, 'host' | 'port'>;
}

/** An agent under test. */
export interface TestAgent {
  readonly agent: Agent;
  readonly log: LogRecorder;
}

/** Starts an agent in this process and waits until it is connected; it is stopped when the test is done. */
export async function startAgent({ bridge }: Reached, options: Partial<AgentOptions> = {}): Promise<TestAgent> {
  const started = launchAgent({ bridge }, options);
  await started.log.line(/^connected to/);
  return started;
}

/** Starts an agent without waiting for anything. */
export function launchAgent({ bridge }: Reached, options: Partial<AgentOptions> = {}): TestAgent {
  const log = new LogRecorder();
  const agent = new Agent({ servers: [bridge], vkey: CLIENT.vkey, log: log.logger, version: '0.0.1', sockets, ...options });
  const ran = agent.run();
  running.push(async () => {
    await agent.stop();
    await ran;
  });
  return { agent, log };
}

let lastTunnelId = 0;

/** A tunnel of `CLIENT` as the engine wants it: a started tcp one on the loopback by default. */
export function tunnelOf(tunnel: Partial<WantedTunnel>): WantedTunnel {
  return {
    id: ++lastTunnelId,
    clientId: CLIENT.id,
    mode: 'tcp',
    enabled: true,
    serverIp: '127.0.0.1',
    port: 0,
    targets: [],
    localProxy: false,
    password: '',
    localPath: '',
    stripPrefix: '',
    proxyProtocol: '',
    accounts: [],
    ...tunnel,
  };
}

/** Opens a tunnel, on a port that the engine picks by default, as a mutation does. */
export async function openTunnel({ engine }: Pick<TestEngine, 'engine'>, tunnel: Partial<WantedTunnel>): Promise<WantedTunnel> {
  const wanted = tunnelOf(tunnel);
  const lease = transportOf(wanted.mode) === undefined ? undefined : await engine.reservePort(wanted);
  const opened = { ...wanted, port: lease?.port ?? 0 };
  await engine.apply({ kind: 'tunnel', tunnel: opened, lease });
  return opened;
}
