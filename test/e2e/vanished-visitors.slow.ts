import { spawnSync } from 'node:child_process';
import { afterEach, test } from '@jest/globals';
import { BACKEND_NAMES } from '../../src/wire/backends.ts';
import { endChildren } from '../support/child.ts';
import { sized } from '../support/endurance.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { descriptors } from '../support/observe.ts';
import { getClient } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { serve } from '../support/served.ts';
import { startTarget } from '../support/target.ts';
import { VanishingNetwork } from '../support/vanishing-network.ts';

// Short form: test/wire/sockets.test.ts

/** With these all of a client's connections are taken. */
const VISITORS = sized(50, 200);
/** Descriptors that the programs open for themselves now and then. */
const SPARE = 10;

describeWith('ip', 'visitors who vanish', () => {
  const mayMakeNetworks = spawnSync('unshare', ['--net', 'true']).status === 0;
  let network: VanishingNetwork | undefined;
  afterEach(async () => {
    await endChildren();
    network?.remove();
  });

  (mayMakeNetworks ? test : test.skip)(
    'without a word, with every way of sockets: their connections are free after keep-alive has found nobody there',
    async () => {
      network = new VanishingNetwork();
      const target = await startTarget();
      const rigs = await Promise.all(BACKEND_NAMES.map(async (sockets) => {
        const { server, agent, clientId, tunnel } = await serve(target.address, { environment: { ADIT_SOCKETS: sockets }, client: { max_conn: VISITORS } });
        const programs = [server.child, agent];
        return { server, clientId, port: tunnel.port, programs, before: programs.map(descriptors) };
      }));
      await network.visit(rigs.map(({ port }) => port), VISITORS, 'hello');
      for (const { server, clientId } of rigs) await eventuallyAsync(async () => (await getClient(server, clientId)).NowConn, (open) => open === VISITORS);
      network.vanish();
      await Promise.all(rigs.map(async ({ server, clientId, programs, before }) => {
        await eventuallyAsync(async () => (await getClient(server, clientId)).NowConn, (open) => open === 0, 45_000);
        await eventually(() => programs.map((program, index) => descriptors(program) - (before[index] ?? 0)), (more) => more.every((count) => count <= SPARE));
      }));
    },
  );
});
