import { expect, test } from '@jest/globals';
import { BACKEND_NAMES } from '../../src/wire/backends.ts';
import { sized } from '../support/endurance.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { descriptors, observed, resources } from '../support/observe.ts';
import { getClient } from '../support/processes.ts';
import { serve } from '../support/served.ts';
import { settled } from '../support/settled.ts';
import { readAll, startTarget, visit } from '../support/target.ts';

// Short form: test/engine/leaks.test.ts

/** What one connection leaves behind is noticed, whatever the number is; many also show what only a few of them leave. */
const COUNT = sized(300, 100_000);
const AT_ONCE = 50;

test.each(BACKEND_NAMES)(
  `${COUNT} short connections do not change the numbers of file descriptors, streams and timers of both processes, sockets by %s`,
  async (sockets) => {
    let accepted = 0;
    const target = await startTarget((socket) => {
      accepted++;
      target.connections.length = 0; // keeping all of them would take much memory
      socket.resume().once('end', () => socket.end('answer'));
    });
    const { server, agent, clientId, tunnel } = await serve(target.address, { environment: { ...observed, ADIT_SOCKETS: sockets } });
    const both = async () => ({
      serverDescriptors: await settled(() => descriptors(server.child)),
      agentDescriptors: await settled(() => descriptors(agent)),
      // A question to the database keeps a port to a worker in use until the answer; the server asks some by itself.
      server: await eventuallyAsync(() => resources(server.child), (found) => !('MessagePort' in found)),
      agent: await resources(agent),
    });
    await visitMany(tunnel.port, 2 * AT_ONCE);
    const before = await both();

    await visitMany(tunnel.port, COUNT);

    expect(await both()).toEqual(before);
    expect((await getClient(server, clientId)).NowConn).toBe(0);
    expect(accepted).toBe(COUNT + 2 * AT_ONCE);
  },
  3_600_000,
);

async function visitMany(port: number, count: number): Promise<void> {
  let left = count;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (left-- > 0) {
      const visitor = await visit(port);
      visitor.end('ask');
      expect((await readAll(visitor)).toString()).toBe('answer');
    }
  }));
}
