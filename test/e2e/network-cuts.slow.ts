import process from 'node:process';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { endChildren } from '../support/child.ts';
import { CutNetwork } from '../support/cut-network.ts';
import { describeInRig } from '../support/describe-in-rig.ts';
import { sized } from '../support/endurance.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { relayToPostgresql } from '../support/postgresql-relay.ts';
import { openTunnel, startAgent, startServer, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { everywhere, graphql, invitationOf } from '../support/several-servers.ts';
import { startEcho } from '../support/target.ts';
import { type Visited, Visitors } from '../support/visitors.ts';

// Short form: test/engine/nodes/homes.test.ts

/** All works again within this time after a cut has ended, in ms: an attempt to connect may have begun just before. */
const BACK_MS = 5000;
/** An agent that can't reach its server any more is at another one within this time, in ms; a busy machine takes longer. */
const MOVED_MS = sized(15_000, 5000);
const TEXT_BYTES = 5;

const counted = z.object({ client: z.object({ runtime: z.object({ connected: z.boolean(), connections: z.number(), exportBytes: z.number() }) }) });

describeInRig('cuts of the network', () => {
  describeWith('initdb', 'between servers on one PostgreSQL database', () => {
    let postgresql: PostgresqlServer;
    let network: CutNetwork;
    beforeAll(async () => {
      postgresql = await startPostgresql();
      network = new CutNetwork(['one', 'two', 'agent']);
    });
    afterEach(endChildren);
    afterAll(async () => {
      network.remove();
      await postgresql.stop();
      removeScratchDirectories();
    });

    test('nothing is counted twice, and each case recovers by itself', async () => {
      const relay = await relayToPostgresql(await postgresql.createDatabase(), network.addressOf('database'));
      const serverAt = async (place: string, more: Readonly<Record<string, string>> = {}) => {
        const host = network.addressOf(place);
        const environment = { ADIT_DATABASE_URL: relay.url, ADIT_NODE: place, ADIT_NODE_ADDRESS: host, ADIT_LOG_LEVEL: 'info', ...more };
        const hosts = { ADIT_HTTP_HOST: host, ADIT_BRIDGE_HOST: host, ADIT_VHOST_HOST: host };
        return { ...await startServer({ environment: { ...environment, ...hosts }, node: network.nodeAt(place) }), host };
      };
      const one = await serverAt('one');
      const two = await serverAt('two', { ADIT_INVITATION: await invitationOf(one) });
      const servers = [one, two];
      const id = await write(one, '/client/add/', { vkey: 'the key of the agent' });
      const agent = await startAgent({ ...one, bridgeHost: one.host, node: network.nodeAt('agent') }, 'the key of the agent');
      const tunnel = await openTunnel(one, id, (await startEcho(network.addressOf('host'))).address);
      const running = `{ tunnel(id: ${tunnel.id}) { runtime { running } } client(id: ${id}) { runtime { connected } } }`;
      await everywhere(servers, running, (data) => !JSON.stringify(data).includes('false'));
      const times: string[] = [];
      const all: Visited[] = [];
      /** Cuts a way while visitors come to both servers. @param noticed resolves when the cut has had its effect */
      const cut = async (from: string, to: string, noticed: () => Promise<unknown>): Promise<void> => {
        const crowds = servers.map(({ host }) => Visitors.start(tunnel.port, () => host, 50));
        const served = (since: number) => crowds.every(({ done }) => done.some(({ began, problem }) => began > since && problem === ''));
        await eventually(() => served(0), Boolean);
        const at = performance.now();
        network.cut(from, to);
        await noticed();
        const ended = performance.now();
        network.heal();
        await eventually(() => served(ended), Boolean);
        await Promise.all(servers.map((server) => eventuallyAsync(() => readiness(server), (status) => status === 200)));
        const took = performance.now() - ended;
        expect(took).toBeLessThan(BACK_MS);
        const visits = (await Promise.all(crowds.map((crowd) => crowd.stop()))).flat();
        all.push(...visits);
        const failed = visits.filter(({ problem }) => problem !== '');
        times.push(
          `${from} from ${to}: noticed after ${(ended - at).toFixed(0)} ms, all well ${
            took.toFixed(0)
          } ms after its end, ${failed.length} of ${visits.length} visitors failed`,
        );
        // Both say the same, which is what the visitors have seen: of those who failed, the agent may have got the bytes.
        const most = all.length * TEXT_BYTES;
        const least = all.filter(({ problem }) => problem === '').length * TEXT_BYTES;
        const states = () =>
          Promise.all(
            servers.map(async (server) =>
              counted.parse(await graphql(server, `{ client(id: ${id}) { runtime { connected connections exportBytes } } }`)).client.runtime
            ),
          );
        const [state] = await eventuallyAsync(states, ([first, second]) => first?.connections === 0 && JSON.stringify(first) === JSON.stringify(second));
        expect(state?.exportBytes).toBeGreaterThanOrEqual(least);
        expect(state?.exportBytes).toBeLessThanOrEqual(most);
      };

      for (let round = 0; round < sized(1, 3); round++) {
        await cut('one', 'two', async () => {
          const lost = (text: string) => text.split('the session with another node was lost').length;
          const before = servers.map(({ child }) => lost(child.output));
          await eventually(() => servers.every(({ child }, index) => lost(child.output) > (before[index] ?? 0)), Boolean);
        });
        await cut('two', 'database', () => eventuallyAsync(() => readiness(two), (status) => status === 503));
        const home = agent.output.match(/connected to \d+\.\d+\.\d+\.\d+/g)?.at(-1)?.endsWith(one.host) === true ? 'one' : 'two';
        const connections = (agent.output.match(/connected to/g) ?? []).length;
        await cut('agent', home, () => eventually(() => (agent.output.match(/connected to/g) ?? []).length > connections, Boolean, MOVED_MS));
      }
      process.stdout.write(`${times.join('\n')}\n`);
      relay.close();
    }, 600_000);
  });
});

async function readiness({ httpHost, httpPort }: { readonly httpHost?: string; readonly httpPort: number }): Promise<number> {
  return (await fetch(`http://${httpHost}:${httpPort}/readyz`, { headers: { connection: 'close' } })).status;
}
