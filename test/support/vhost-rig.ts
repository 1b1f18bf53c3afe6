import { afterAll } from '@jest/globals';
import { Agent } from '../../src/agent/agent.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { EngineOptions } from '../../src/engine/engine-options.ts';
import type { WantedClient, WantedHost } from '../../src/engine/face.ts';
import { covering } from './certificates.ts';
import { LogRecorder } from './log-recorder.ts';
import { CLIENT, storedState } from './tunnel.ts';
import { hostOf } from './vhost.ts';

/** An engine with an agent, and the ports of its hosts, for all tests of a file. */
export interface VhostRig {
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly log: LogRecorder;
  readonly engine: Engine;
  readonly agent: Agent;
  /** Changes the client that the hosts are of. */
  client(client: Partial<WantedClient>): Promise<void>;
  /** Adds a host, `example.test` by default. @returns what takes it away */
  host(host: Partial<WantedHost>): Promise<() => Promise<void>>;
}

/** The address that the engine takes for a proxy's. */
export const TRUSTED_PROXY = '127.0.0.9';

/** Starts it; to be called in beforeAll. */
export async function startVhostRig(options: Partial<EngineOptions> = {}): Promise<VhostRig> {
  const log = new LogRecorder();
  const engine = new Engine({
    bridgeHost: '127.0.0.1',
    bridgePort: 0,
    bridgeTls: { port: 0, identity: covering },
    p2pPort: 0,
    allowPorts: [],
    log: log.logger,
    trustedProxies: [TRUSTED_PROXY],
    ...options,
  });
  await engine.load(storedState());
  const ports = await engine.listenHosts({ host: '127.0.0.1', httpPort: 0, httpsPort: 0 });
  const agentLog = new LogRecorder();
  const agent = new Agent({ servers: [await engine.listen()], vkey: CLIENT.vkey, log: agentLog.logger, version: '0.0.1' });
  const ran = agent.run();
  await agentLog.line(/^connected to/);
  stops.push(async () => {
    await agent.stop();
    await ran;
    await engine.close();
  });
  return {
    ...ports,
    log,
    engine,
    agent,
    client: (client) => engine.apply({ kind: 'client', client: { ...CLIENT, ...client } }),
    async host(partial) {
      const host = hostOf(partial);
      await engine.apply({ kind: 'host', host });
      return () => engine.apply({ kind: 'hostRemoved', id: host.id });
    },
  };
}

const stops: Array<() => Promise<void>> = [];
afterAll(async () => {
  for (const stop of stops.splice(0)) await stop();
});
