import http from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { beforeAll, expect, test } from '@jest/globals';
import { cpuSeconds } from '../../bench/usage.ts';
import { Child } from '../support/child.ts';
import { sized } from '../support/endurance.ts';
import { programPath } from '../support/find-program.ts';
import { residentBytes } from '../support/observe.ts';
import { type PlatformSite, startPlatformSite } from '../support/platform-site.ts';
import { describeWith } from '../support/programs.ts';

// Short form: test/engine/crowds.test.ts

/** Slow heads, slow bodies, slow readers. */
const CROWD = sized<readonly [number, number, number]>([200, 50, 50], [2000, 500, 500]);
const SECONDS = sized(4, 30);
/** The short form runs beside other suites, and one moment that they take makes its p99. */
const MOST_MS = sized(4000, 100);
/** What waits for a slow reader is at most what the windows allow. */
const MOST_GROWTH = (64 + 2 * CROWD[2]) * 1024 * 1024;
const WORKERS = 8;
const EVERY_MS = 20;

let site: PlatformSite;

/** A script of this test, in a process of its own. */
function start(program: string, script: string, ...args: readonly string[]): Child {
  return new Child(program, [path.resolve(import.meta.dirname, '../support', script), ...args]);
}

/** Waits until programs have done what they were given: from then on the crowd only holds its connections. */
async function idle(programs: readonly Child[]): Promise<void> {
  const used = (): number => cpuSeconds(programs.map(({ pid }) => pid));
  for (let before = -1; used() - before > 0.2;) {
    before = used();
    await new Promise((resolve) => {
      setTimeout(resolve, 500);
    });
  }
}

/** Sends requests as a normal visitor does, alternately on kept connections and on new ones. @returns how long each request took, in ms */
async function healthy(seconds: number): Promise<number[]> {
  const agent = new http.Agent({ keepAlive: true });
  const end = performance.now() + seconds * 1000;
  const took: number[] = [];
  const ask = async (worker: number): Promise<void> => {
    const start = performance.now();
    await new Promise<void>((resolve, reject) => {
      const request = http.get({
        host: '127.0.0.1',
        port: site.server.hostsPort,
        path: '/',
        headers: { host: site.name },
        agent: worker % 2 === 0 ? agent : false,
      }, (response) => {
        response.resume().on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`status ${response.statusCode}`))));
      });
      request.on('error', reject);
    });
    took.push(performance.now() - start);
  };
  await Promise.all(Array.from({ length: WORKERS }, async (_, worker) => {
    while (performance.now() < end) {
      await ask(worker);
      await new Promise((resolve) => {
        setTimeout(resolve, EVERY_MS);
      });
    }
  }));
  agent.destroy();
  return took;
}

describeWith('python3', 'a crowd of slow visitors', () => {
  beforeAll(async () => {
    const [, port] = await start(process.execPath, 'crowd-origin.mjs').says(/listening on (\d+)/);
    site = await startPlatformSite(`127.0.0.1:${port}`);
  });

  test(`${CROWD.join(', ')} connections that are slow with a head, a body, or with reading leave p99 of others under ${MOST_MS} ms`, async () => {
    await healthy(1);
    const programs = [site.server.child, site.agent];
    const before = programs.map(residentBytes);
    const crowd = start(programPath('python3'), 'slow_crowd.py', String(site.server.hostsPort), site.name, ...CROWD.map(String));
    await crowd.says(new RegExp(`open ${CROWD.join(' ')}\\n`));
    await idle(programs);
    const from = crowd.output.length;
    let grown = 0;
    const timer = setInterval(() => {
      grown = Math.max(grown, ...programs.map((program, index) => residentBytes(program) - (before[index] ?? 0)));
    }, 100);
    const took = (await healthy(SECONDS)).toSorted((a, b) => a - b);
    clearInterval(timer);
    const figures = {
      requests: took.length,
      p50: took[Math.floor(took.length / 2)],
      p99: took[Math.floor(took.length * 0.99)],
      most: took.at(-1),
      grownMB: Math.round(grown / 2 ** 20),
    };
    process.stderr.write(`${JSON.stringify(figures)}\n`);
    // One that was ended is there again at once: the crowd was never much smaller.
    const open = Array.from(crowd.output.slice(from).matchAll(/open (\d+) (\d+) (\d+)/g), ([, ...counts]) => counts.map(Number));
    expect(open.length).toBeGreaterThan(SECONDS / 2);
    for (const counts of open) expect(counts.every((count, kind) => count > 0.9 * (CROWD[kind] ?? 0))).toBe(true);
    expect(took.length).toBeGreaterThan(sized(WORKERS, SECONDS * 20));
    expect(figures.p99).toBeLessThan(MOST_MS);
    expect(grown).toBeLessThan(MOST_GROWTH);
  });
});
