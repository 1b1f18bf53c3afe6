import { expect, test } from '@jest/globals';
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
