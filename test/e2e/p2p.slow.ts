import process from 'node:process';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type Child, endChildren } from '../support/child.ts';
import { describeInRig } from '../support/describe-in-rig.ts';
import { endurance, sized } from '../support/endurance.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { programPath } from '../support/find-program.ts';
import { memoryGrowth } from '../support/memory-growth.ts';
import { NatRig, type NatType, natTypes } from '../support/nat-rig.ts';
import { hashOf } from '../support/payload.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { type Sshd, startSshd } from '../support/sshd.ts';

// Short form: test/engine/p2p-tunnel.test.ts

const MB = 1024 * 1024;
const SEED = 7;
/** Each way. */
const SIZE = sized(4, 1024) * MB;
/** To a reader that stops: more than any program may grow by. */
const OFFERED = sized(256, 1024) * MB;
/** What may be under way to a reader that stops: the credit of a stream, and what the rig's kernels hold of up to four TCP connections. */
const UNDER_WAY = 12 * MB;
/** What a program may need more while much is carried: buffers, and what waits for the garbage collector. */
const MOST_GROWTH = 192 * MB;
const LONG = sized(60_000, 900_000);

type Path = 'udp' | 'tcp' | 'relay';

/** What opens between two kinds of NAT. */
function expectedPath(visitor: NatType, agent: NatType): Path {
  const pair = [visitor, agent];
  const other = visitor === 'sym' ? agent : visitor;
  if (pair.includes('block')) return pair.includes('sym') ? 'relay' : 'tcp';
  if (!pair.includes('sym') || other === 'full' || other === 'addr') return 'udp';
  return 'relay';
}

describeInRig('p2p between NATs', () => {
  let rig: NatRig;
  let sshd: Sshd;
  let running: Child[] = [];
  const seen: string[] = [];

  beforeAll(async () => {
    rig = await NatRig.up();
    sshd = await startSshd((command, args) => rig.run('agent', [command, ...args]));
  });
  afterEach(async () => {
    await Promise.all(running.map((child) => child.end()));
    await rig.heal();
    running = [];
  });
  afterAll(async () => {
    await endChildren();
    await rig.down();
    removeScratchDirectories();
    if (seen.length > 0) process.stdout.write(`visitor x agent: path, and s from the session until it was open\n${seen.join('\n')}\n`);
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

  /** A command by OpenSSH through the visitor's port. */
  async function expectSsh(port: number): Promise<void> {
    await rig.aim(sshd.port);
    const command = rig.run('visitor', [programPath('ssh'), ...sshd.login(port), 'echo through $((6 * 7)); exit 3']);
    expect(await command.exited).toEqual({ code: 3, signal: null });
    expect(command.output).toBe('through 42\n');
    await rig.aim();
  }

  /** Transfers arrive whole, and a reader that stops holds the sender back; neither grows anybody. At full length it goes on, and has lost nothing. */
  async function expectSteady(port: number, { agent, visitor }: { readonly agent: Child; readonly visitor: Child }): Promise<void> {
    const grown = await memoryGrowth([agent, visitor, rig.server], async () => {
      await expectWhole(port, SIZE);
      let last = -1;
      const stopped = await rig.use(port, 'stop', OFFERED);
      await eventually(() => rig.sent, (sent) => sent > 0);
      let since = performance.now();
      await eventually(() => rig.sent, (sent) => {
        if (sent !== last) since = performance.now();
        last = sent;
        return performance.now() - since > 1000;
      }, 20_000);
      expect(last).toBeLessThan(UNDER_WAY);
      if (!endurance) return;
      stopped.tell('go');
      expect(await stopped.outcome()).toBe(`${OFFERED} ${hashOf(OFFERED, SEED)}`);
    });
    for (const bytes of grown) expect(bytes).toBeLessThan(MOST_GROWTH);
  }

  test(
    `a direct path opens, is shown, carries ssh and ${SIZE / MB} MB intact both ways, its bytes are counted, and a reader that stops grows nobody`,
    async () => {
      const before = await rig.tunnel();
      const { visitor, agent, port } = await meet('port', 'port');
      await visitor.says(/direct path to the agent at 203\.0\.113\.20:\d+ \(udp\): new connections use it/);
      await agent.says(/direct path with a visitor of tunnel \d+ at 203\.0\.113\.10:\d+ \(udp\)/);
      await expectPath('DIRECT');
      await expectSteady(port, { agent, visitor });
      await eventuallyAsync(
        () => rig.tunnel(),
        ({ inletBytes, exportBytes }) => inletBytes - before.inletBytes >= SIZE && exportBytes - before.exportBytes >= SIZE,
      );
      await expectSsh(port);
      expect(visitor.output).not.toMatch(/direct path lost/);
    },
    LONG,
  );

  test(`without the native library a direct path opens over TCP, and carries ${SIZE / MB} MB intact both ways`, async () => {
    const { visitor, agent, port } = await meet('port', 'port', false);
    await visitor.says(/direct path to the agent at 203\.0\.113\.20:\d+ \(tcp\)/);
    await agent.says(/direct path with a visitor of tunnel \d+ at 203\.0\.113\.10:\d+ \(tcp\)/);
    await expectPath('DIRECT');
    await (endurance ? expectSteady(port, { agent, visitor }) : expectWhole(port, SIZE));
    expect(visitor.output).not.toMatch(/direct path lost/);
  }, LONG);

  test(
    `where it opens nowhere, without the native library too, the server relays, which is said and shown, ssh and ${SIZE / MB} MB intact both ways`,
    async () => {
      const { visitor, agent, port } = await meet('sym', 'port', false);
      const echo = await rig.use(port, 'echo');
      echo.tell('at-once');
      await echo.says('echoed at-once');
      await visitor.says(/no direct path: no TCP connection of the peer arrives; connections go through the server, and a direct path is tried again/);
      await expectPath('RELAY');
      await expectSteady(port, { agent, visitor });
      await expectSsh(port);
    },
    LONG,
  );

  test('a direct path that is lost in mid-transfer is noticed within 5 s; its connections are cut, new ones are relayed', async () => {
    const { visitor, agent, port } = await meet('full', 'addr');
    await visitor.says(/direct path to the agent/);
    const download = await rig.use(port, 'download', 1024 * MB);
    await eventually(() => rig.sent, (sent) => sent > 4 * MB && sent < 1000 * MB, 20_000);
    await rig.cut();
    const cutAt = Date.now();
    // Whichever side notices first tells the other, through the server.
    const lost =
      /^(\S+) WARN +agent: direct path lost: (?:no sign of life for \d\.\d s|the server or the agent ended it); 1 connection on it cut, new ones go through the server/m;
    const [, noticed = ''] = await visitor.says(lost);
    expect(Date.parse(noticed) - cutAt).toBeLessThan(5000);
    expect(await download.outcome()).toBe('failed: read ECONNRESET');
    await agent.says(/direct path with a visitor of tunnel \d+ ended/);
    await expectPath('RELAY');
    await expectWhole(port, MB);
  });

  if (endurance) {
    test('after a loss a direct path opens again, and relayed connections stay where they are', async () => {
      const { visitor, port } = await meet('rej', 'port');
      await visitor.says(/direct path to the agent/);
      await rig.cut();
      await visitor.says(/direct path lost/);
      const echo = await rig.use(port, 'echo');
      echo.tell('relayed');
      await echo.says('echoed relayed');
      await rig.heal();
      await visitor.says(/direct path to the agent[^]*direct path lost[^]*direct path to the agent/);
      await expectPath('DIRECT');
      echo.tell('still');
      await echo.says('echoed still');
      await expectWhole(port, MB);
    });

    const pairs = natTypes.flatMap((visitor) => natTypes.map((agent): [NatType, NatType, Path] => [visitor, agent, expectedPath(visitor, agent)]));
    test.each(pairs)('%s x %s: %s', async (visitorNat, agentNat, expected) => {
      const { visitor, port } = await meet(visitorNat, agentNat);
      if (expected === 'relay') {
        // By UDP, and then by TCP.
        await visitor.says(/no direct path[^]*no direct path/);
        await expectPath('RELAY');
      } else {
        // Where UDP is blocked TCP is the second attempt.
        await visitor.says(new RegExp(`direct path to the agent.*\\(${expected}\\)`));
        await expectPath('DIRECT');
      }
      await expectWhole(port, 4 * MB);
      expect(visitor.output).not.toMatch(/direct path lost/);
      const [connected = 0, opened = 0] = [/^(\S+) .*connected to/m, /^(\S+) .*direct path to/m].map((line) =>
        Date.parse(line.exec(visitor.output)?.[1] ?? '')
      );
      seen.push(`${visitorNat} x ${agentNat}: ${expected}${expected === 'relay' ? '' : ` ${((opened - connected) / 1000).toFixed(2)}`}`);
    });
  }
});
