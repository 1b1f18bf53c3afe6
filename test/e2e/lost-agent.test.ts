import { expect, test } from '@jest/globals';
import { startServer } from '../support/processes.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { serve } from '../support/served.ts';
import { roundTrip, startEcho, visit } from '../support/target.ts';

test('an agent over TLS reconnects to a server that was killed and restarted: the fingerprint stays the same', async () => {
  const { server, agent, tunnel } = await serve((await startEcho()).address, { way: 'pinned', dataDir: scratchDirectory() }); // the server stores its certificate there
  expect(await roundTrip(await visit(tunnel.port), 'hello')).toBe('hello');
  const { dataDir, httpPort, bridgePort, tlsPort, fingerprint } = server;
  await server.child.end();
  const after = agent.output.length;
  const again = await startServer({ dataDir, httpPort, bridgePort, tlsPort });
  expect(again.fingerprint).toBe(fingerprint);
  await agent.says(/connected to .* over TLS/, after);
  expect(await roundTrip(await visit(tunnel.port), 'again')).toBe('again');
});
