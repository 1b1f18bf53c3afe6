import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { sized } from '../support/endurance.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { observed } from '../support/observe.ts';
import { startServer } from '../support/processes.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { type Held, held, quiet } from '../support/soak/baseline.ts';
import { disturbances } from '../support/soak/disturbances.ts';
import { Load } from '../support/soak/load.ts';
import { Site } from '../support/soak/site.ts';
import { startTargets } from '../support/soak/targets.ts';

afterEach(endChildren);
afterAll(removeScratchDirectories);

/** `ADIT_SOAK_SECONDS` for another length. */
const SECONDS = Number(process.env['ADIT_SOAK_SECONDS'] ?? sized(180, 1800));
/** Of it, before the baseline is taken: with everything that happens later. The memory that allocators keep takes its time to settle. */
const WARM_UP_SECONDS = SECONDS / 3;
/** From the end of one disturbance to the next. */
const BETWEEN_MS = sized(1500, 4000);

test(
  `${SECONDS} s of traffic through every type, with agents killed, frozen and cut off, targets silent, tunnels stopped and clients edited, leave nothing behind`,
  async () => {
    const targets = await startTargets();
    const server = await startServer({ environment: { ...observed, ADIT_UDP_IDLE_SECONDS: '3', ADIT_P2P_PORT: '0' } });
    const restless = await Site.start(server, 'restless', targets, {});
    const steady = await Site.start(server, 'steady', targets, { crypt: 1, compress: 1, rate_limit: 4000 });
    const load = new Load();
    const list = disturbances(load, targets, restless, steady);
    let turn = 0;
    const say = (what: string) => process.stderr.write(`${Math.round(performance.now() / 1000)} s: ${what}\n`);
    const work = async (seconds: number) => {
      const until = performance.now() + seconds * 1000;
      load.start([restless, steady]);
      // Each at least once, however long it takes.
      const last = turn + list.length;
      for (; turn < last || performance.now() < until; turn++) {
        await delay(BETWEEN_MS);
        const disturbance = list[turn % list.length];
        say(disturbance?.name ?? '');
        await disturbance?.run();
      }
      say('no more transfers');
      await load.stop();
    };
    const programs = () => ({
      server: server.child,
      agent: steady.agent,
      'restarted agent': restless.agent,
      visitor: steady.visitors[0],
      'p2p visitor': steady.visitors[1],
    });
    const look = async (): Promise<Record<string, Held>> => {
      say('waiting for quiet');
      await quiet(server);
      say('looking');
      const seen: Record<string, Held> = {};
      for (const [name, child] of Object.entries(programs())) if (child) seen[name] = await held(child, [server.bridgePort, server.tlsPort]);
      return seen;
    };

    await work(WARM_UP_SECONDS);
    process.stderr.write(`${JSON.stringify({ excused: Object.fromEntries(load.excused), failures: load.failures }, null, 1)}\n`);
    const before = await look();
    const warmedUp = new Map(load.done);
    await work(SECONDS - WARM_UP_SECONDS);

    process.stderr.write(`${JSON.stringify({ excused: Object.fromEntries(load.excused), failures: load.failures }, null, 1)}\n`);
    const report = { done: Object.fromEntries(load.done), excused: Object.fromEntries(load.excused), failures: load.failures, disturbances: turn };
    process.stderr.write(`${JSON.stringify({ ...report, before, after: await look() }, null, 1)}\n`);
    expect(load.failures).toEqual([]);
    // Timers and sockets that end by themselves have a moment.
    const after = await eventuallyAsync(look, (now) => Object.keys(before).every((name) => same(before[name], now[name])), 20_000);
    expect(Object.values(after).every(({ bridgeConnections }) => bridgeConnections <= 3 * 256)).toBe(true);
    for (const kind of ['heap', 'rss'] as const) {
      const growth = (after['server']?.[kind] ?? Infinity) / (before['server']?.[kind] ?? 0);
      expect([kind, growth < 1.1 ? 'as before' : growth]).toEqual([kind, 'as before']);
    }
    for (const site of [restless, steady]) {
      for (const { name } of site.traffic) {
        const key = `${site.name} ${name}`;
        expect([key, (load.done.get(key) ?? 0) - (warmedUp.get(key) ?? 0)]).toEqual([key, expect.any(Number)]);
        expect((load.done.get(key) ?? 0) - (warmedUp.get(key) ?? 0)).toBeGreaterThan(SECONDS / 20);
      }
    }
    expect(server.child.output).not.toMatch(/ERROR|FATAL/);
  },
  (SECONDS * 1.5 + 300) * 1000,
);

/** Whether a program holds no more than before. */
function same(before: Held | undefined, now: Held | undefined): boolean {
  if (!before || !now) return false;
  return now.descriptors <= before.descriptors
    && [...new Set([...Object.keys(before.resources), ...Object.keys(now.resources)])].every((kind) =>
      (now.resources[kind] ?? 0) <= (before.resources[kind] ?? 0)
    );
}
