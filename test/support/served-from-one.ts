import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { endChildren, endOtherChildren } from './child.ts';
import { openTunnel, startAgent, startServer, write, type ServerOptions, type ServerProcess } from './processes.ts';
import { removeScratchDirectories } from './scratch.ts';
import type { Served, ServeOptions } from './served.ts';

/**
 * As `serve` (served.ts), with one server for all tests of the suite or `describe` that this is called in: to start one takes a second of a processor. Each call of the result makes a
 * client of its own, with an agent and a tunnel. The server ends after the last test, all other programs with their test.
 */
export function serveFromOne(options: ServerOptions = {}): (target: string, more?: Pick<ServeOptions, 'client' | 'way'>) => Promise<Served> {
  let server: ServerProcess;
  let clients = 0;
  beforeAll(async () => {
    server = await startServer(options);
  });
  afterEach(() => endOtherChildren([server.child]));
  afterAll(async () => {
    await endChildren();
    removeScratchDirectories();
  });
  return async (target, { client = {}, way } = {}) => {
    const vkey = `the key of agent ${++clients}`;
    const clientId = await write(server, '/client/add/', { vkey, remark: 'served', ...client });
    const agent = await startAgent(server, vkey, options.environment, way);
    return { server, agent, clientId, vkey, tunnel: await openTunnel(server, clientId, target) };
  };
}
