import type { WantedTunnel } from '../../src/engine/face.ts';
import { CLIENT, openTunnel, startAgent, startEngine, type TestEngine } from './tunnel.ts';

/** `CLIENT` with a user name and a password for its proxies. */
export const LOGIN = { ...CLIENT, basicUser: 'mé', basicPassword: 'pass:wörd' };

/** Starts an engine with an agent, and opens a tunnel of type httpProxy. */
export async function startProxy(
  options: Parameters<typeof startEngine>[0] = {},
  tunnel: Partial<WantedTunnel> = {},
): Promise<{ server: TestEngine; port: number; id: number }> {
  const server = await startEngine(options);
  await startAgent(server);
  return { server, ...await openTunnel(server, { mode: 'httpProxy', ...tunnel }) };
}
