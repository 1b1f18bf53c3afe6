import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type Child, endChildren } from '../support/child.ts';
import { endurance, sized } from '../support/endurance.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { describeInRig, NatRig, type NatType, natTypes } from '../support/nat-rig.ts';
import { hashOf } from '../support/payload.ts';
import { removeScratchDirectories } from '../support/scratch.ts';

const MB = 1024 * 1024;
const SIZE = sized(4, 1024) * MB;
/** To a reader that stops. */
const OFFERED = sized(48, 512) * MB;
const SEED = 7;

/** What opens between two kinds of NAT. */
function expectedPath(visitor: NatType, agent: NatType): 'udp' | 'tcp' | 'relay' {
  const pair = [visitor, agent];
  const other = visitor === 'sym' ? agent : visitor;
  if (pair.includes('block')) return pair.includes('sym') ? 'relay' : 'tcp';
  if (!pair.includes('sym') || other === 'full' || other === 'addr') return 'udp';
  return 'relay';
}

/** Memory of a process that is in use, in bytes. */
function residentBytes({ pid }: Child): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

describeInRig('p2p between NATs', () => {
  let rig: NatRig;
  let running: Child[] = [];

  beforeAll(async () => { rig = await NatRig.up(); }, 60_000);
  afterEach(async () => {
    await Promise.all(running.map((child) => child.end()));
    await rig.heal();
    running = [];
  });
  afterAll(async () => {
    await endChildren();
    await rig.down();
    removeScratchDirectories();
  });

  /** An agent and a visitor behind NATs of these types. */
  async function meet(visitorNat: NatType, agentNat: NatType, udx = true) {
    await rig.nats(visitorNat, agentNat);
    const agent = await rig.agent();
    running.push(agent);
    const visitor = await rig.visitor(udx);
    running.push(visitor.child);
    return { agent, visitor: visitor.child, port: visitor.port };
  }

  async function expectPath(path: 'DIRECT' | 'RELAY'): Promise<void> {
    await eventuallyAsync(async () => (await rig.tunnel()).visitors.map((visitor) => visitor.path), (paths) => paths.length === 1 && paths[0] === path);
  }

  async function expectWhole(port: number, bytes: number): Promise<void> {
    const whole = `${bytes} ${hashOf(bytes, SEED)}`;
    expect(await (await rig.use(port, 'download', bytes)).outcome()).toBe(whole);
    expect(await (await rig.use(port, 'upload', bytes)).outcome()).toBe(whole);
  }

  test(`a direct path opens, is shown, carries ${SIZE / MB} MB intact both ways, and its bytes are counted`, async () => {
    const before = await rig.tunnel();
    const { visitor, agent, port } = await meet('port', 'port');
    await visitor.says(/direct path to the agent at 203\.0\.113\.20:\d+ \(udp\): new connections use it/);
    await agent.says(/direct path with a visitor of tunnel \d+ at 203\.0\.113\.10:\d+ \(udp\)/);
    await expectPath('DIRECT');
    await expectWhole(port, SIZE);
    await eventuallyAsync(() => rig.tunnel(), ({ inletBytes, exportBytes }) => inletBytes - before.inletBytes >= SIZE && exportBytes - before.exportBytes >= SIZE);

    // A reader that stops: the sender stands still, and neither program holds what is not read.
    const held = [agent, visitor].map(residentBytes);
    const stopped = await rig.use(port, 'stop', OFFERED);
    await eventually(() => rig.sent, (sent) => sent > 0);
    let last = -1;
    let since = performance.now();
    await eventually(() => rig.sent, (sent) => {
      if (sent !== last) since = performance.now();
      last = sent;
      return performance.now() - since > 1000;
    }, 20_000);
    expect(last).toBeLessThan(OFFERED / 2);
    for (const [index, child] of [agent, visitor].entries()) expect(residentBytes(child) - (held[index] ?? 0)).toBeLessThan(OFFERED / 2);
    stopped.tell('go');
    expect(await stopped.outcome()).toBe(`${OFFERED} ${hashOf(OFFERED, SEED)}`);
  }, sized(60_000, 600_000));

  test(`where no direct path opens the server relays, which is said and shown, ${SIZE / MB} MB intact both ways`, async () => {
    const { visitor, port } = await meet('sym', 'port');
    const echo = await rig.use(port, 'echo');
    echo.tell('at-once');
    await echo.says('echoed at-once');
    await visitor.says(/no direct path: .*; connections go through the server, and it is tried again/);
    await expectPath('RELAY');
    await expectWhole(port, SIZE);
  }, sized(60_000, 600_000));

  test('a direct path that is lost in mid-transfer is noticed within 5 s; its connections are cut, new ones are relayed and stay so', async () => {
    const { visitor, agent, port } = await meet('full', 'addr');
    await visitor.says(/direct path to the agent/);
    const download = await rig.use(port, 'download', 1024 * MB);
    await eventually(() => rig.sent, (sent) => sent > 4 * MB && sent < 1000 * MB);
    await rig.cut();
    const cutAt = performance.now();
    // Whichever side notices first tells the other, through the server.
    await visitor.says(/direct path lost: (?:no sign of life for \d\.\d s|the server or the agent ended it); 1 connection on it cut, new ones go through the server/);
    expect(performance.now() - cutAt).toBeLessThan(5500); // 5 s, and what the programs take to tell us
    expect(await download.outcome()).toBe('failed: read ECONNRESET');
    await agent.says(/direct path with a visitor of tunnel \d+ ended/);
    await expectPath('RELAY');
    const echo = await rig.use(port, 'echo');
    echo.tell('relayed');
    await echo.says('echoed relayed');

    await rig.heal();
    await visitor.says(/direct path to the agent[^]*direct path lost[^]*direct path to the agent/);
    await expectPath('DIRECT');
    echo.tell('still');
    await echo.says('echoed still');
    await expectWhole(port, MB);
  }, 60_000);

  if (endurance) {
    test('without the native library a direct path opens over TCP', async () => {
      const { visitor, port } = await meet('port', 'port', false);
      await visitor.says(/direct path to the agent at 203\.0\.113\.20:\d+ \(tcp\)/);
      await expectPath('DIRECT');
      await expectWhole(port, SIZE);
    }, 600_000);

    const pairs = natTypes.flatMap((visitor) => natTypes.map((agent): [NatType, NatType, string] => [visitor, agent, expectedPath(visitor, agent)]));
    test.each(pairs)('%s x %s: %s', async (visitorNat, agentNat, expected) => {
      const { visitor, port } = await meet(visitorNat, agentNat);
      if (expected === 'relay') {
        await visitor.says(/no direct path/);
        await expectPath('RELAY');
      } else {
        // Where UDP is blocked TCP is the second attempt.
        await visitor.says(new RegExp(`direct path to the agent.*\\(${expected}\\)`));
        await expectPath('DIRECT');
      }
      await expectWhole(port, 4 * MB);
    }, 60_000);
  }
});
