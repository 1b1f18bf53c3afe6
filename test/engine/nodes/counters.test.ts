import { expect, test } from '@jest/globals';
import { Absence } from '../../../src/engine/nodes/absence.ts';
import { eventually } from '../../support/eventually.ts';
import { openEverywhere, startNodes } from '../../support/nodes.ts';
import { roundTrip, startEcho, visit } from '../../support/target.ts';
import { CLIENT, startAgent } from '../../support/tunnel.ts';

test.each([[[]], [['one', 'two']]])('a client takes its counters along from home to home, if others (%p) have looked at it in between', async (looking) => {
  const nodes = await startNodes(['one', 'two']);
  const [one, two] = nodes;
  if (!one || !two) throw new Error('there are two nodes');
  const [, tunnel] = await openEverywhere(nodes, { targets: [(await startEcho()).address] });
  if (!tunnel) throw new Error('there are two listeners');
  const look = async () => {
    for (const node of nodes) if (looking.some((name) => name === node.name)) await node.engine.takeDirty();
  };
  let sum = 0;
  for (const home of [one, two, one]) {
    const { agent } = await startAgent(home);
    await eventually(
      () => nodes.map(({ engine }) => engine.nodes?.isHome(CLIENT.id)),
      ([first, second]) => first === (home === one) && second === (home === two),
    );
    await look();
    const visitor = await visit(tunnel.port);
    await roundTrip(visitor, 'x'.repeat(100));
    visitor.destroy(); // an agent that stops gives open connections five seconds to end
    sum += 100;
    await eventually(() => home.engine.clientState(CLIENT.id)?.exportBytes, (bytes) => bytes === sum);
    await eventually(() => home.engine.tunnelState(tunnel.id)?.exportBytes, (bytes) => bytes === sum);
    await agent.stop();
    await eventually(() => nodes.map(({ engine }) => engine.nodes?.linkTo(CLIENT.id)), ([first, second]) => first === undefined && second === undefined);
    await look();
  }
  expect(sum).toBe(300);
});

test('a node that was frozen stores nothing until others have reported what they took over; what it knows when it ends is stored', async () => {
  const [one] = await startNodes(['one', 'two']);
  if (!one) throw new Error('there are two nodes');
  await startAgent(one);
  const [tunnel] = await openEverywhere([one], { targets: [(await startEcho()).address] });
  await roundTrip(await visit(tunnel?.port ?? 0), 'hello');
  // As if the process were stopped: nothing of it runs.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1300);
  expect(await one.engine.takeDirty()).toEqual({ clients: [], tunnels: [], hosts: [] });
  await one.engine.close();
  expect(await one.engine.takeDirty()).toMatchObject({ clients: [{ id: CLIENT.id, exportBytes: 5 }], tunnels: [{ exportBytes: 5 }] });
});

test('a process was frozen if it did not run for 1.2 s, and knows 3 s later what has happened', () => {
  let now = 1000;
  const absence = new Absence(() => now);
  const outdatedAt = (at: number) => {
    now = at;
    return absence.outdated;
  };
  expect([2200, 3400, 4601, 5600, 6600, 7600, 7601].map(outdatedAt)).toEqual([false, false, true, true, true, true, false]);
  absence.stop();
});
