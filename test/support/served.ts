import { afterAll, afterEach } from '@jest/globals';
import { endChildren, type Child } from './child.ts';
import { openTunnel, startAgent, startServer, write, type AgentWay, type Parameters, type ServerOptions, type ServerProcess } from './processes.ts';
import { removeScratchDirectories } from './scratch.ts';

afterEach(endChildren);
afterAll(removeScratchDirectories);

/** A server and an agent in processes of their own, and a tunnel between them. They end with the test. */
export interface Served {
  readonly server: ServerProcess;
  readonly agent: Child;
  readonly clientId: number;
  readonly vkey: string;
  /** Leads to the target. */
  readonly tunnel: { readonly id: number; readonly port: number };
}

/** How server and agent are started, and what the client is given besides its key. */
export interface ServeOptions extends ServerOptions {
  readonly client?: Parameters;
  /** @see startAgent */
  readonly way?: AgentWay;
}

/** Does what an operator does first: server, client, agent, tunnel to `target` (host:port). */
export async function serve(target: string, { client = {}, way, ...options }: ServeOptions = {}): Promise<Served> {
  const server = await startServer(options);
  const vkey = 'the key of the agent';
  const clientId = await write(server, '/client/add/', { vkey, remark: 'served', ...client });
  const agent = await startAgent(server, vkey, options.environment, way);
  return { server, agent, clientId, vkey, tunnel: await openTunnel(server, clientId, target) };
}
