import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import pino from 'pino';
import { z } from 'zod';
import { openStore } from '../src/store/store.ts';
import { Child, endChildren } from '../test/support/child.ts';
import { call, signedNow, startServer } from '../test/support/processes.ts';
import { scratchDirectory } from '../test/support/scratch.ts';
import { seedClients } from '../test/support/seed.ts';
import { Quiet } from './quiet.ts';
import { report } from './report.ts';
import { cpuSeconds } from './usage.ts';
import type { Metric, Sample } from './works/work.ts';
import { wrk } from './wrk.ts';

/**
 * Measures a signed POST /client/list/ with limit 10, over 10,000 and over 100,000 clients, beside an Express route that answers
 * a fixed object: all in turn, each in a process of its own.
 *
 *     npm run bench:api -- [--rounds 5] [--seconds 5] [--patience 60]
 */

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '5' }, patience: { type: 'string', default: '60' } } });
/** A signature is valid for 20 s. */
const seconds = z.coerce.number().int().min(1).max(15).parse(options.seconds);
const quiet = new Quiet(z.coerce.number().min(0).parse(options.patience));
const rounds = z.coerce.number().int().min(1).parse(options.rounds);

/** One of the things that are called. */
interface Route {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1)); // children end with the process
await main();
await endChildren();
process.exit();

async function main(): Promise<void> {
  const small = await startList('10,000 clients', 10_000);
  const large = await startList('100,000 clients', 100_000);
  const statics = await startStatic(small.page);
  const routes = [small.route, large.route, ...statics];
  const samples = new Map(routes.map(({ name }): [string, Sample[]] => [name, []]));
  print(`load of the machine before: ${loadavg().map((load) => load.toFixed(2)).join(' ')}; ${rounds} rounds of ${seconds} s, 32 connections; median (least - most)\n`);
  for (let round = 0; round <= rounds; round++) { // round 0 warms up
    for (const route of routes.map((_, index) => routes[(index + round) % routes.length])) {
      if (!route) continue;
      process.stderr.write(`round ${round} of ${rounds}: ${route.name}\n`);
      const sample = await quiet.measure(() => measure(route));
      if (round > 0) samples.get(route.name)?.push(sample);
    }
  }
  const only = (...names: string[]): Map<string, Sample[]> => new Map(names.map((name) => [name, samples.get(name) ?? []]));
  const metrics = (rate: Metric['goals'], cpu: Metric['goals']): Metric[] => [
    { name: 'requests/s', digits: 0, more: true, goals: rate }, { name: 'CPU us/request', digits: 0, more: false, goals: cpu },
  ];
  print(report({ title: 'POST /client/list/, limit 10, signed', metrics: metrics({ 'static JSON, small': 0.25 }, undefined) }, only('10,000 clients', 'static JSON, small', 'static JSON, same page')));
  print(report({ title: 'Ten times the clients', metrics: metrics(undefined, { '10,000 clients': 1.2 }) }, only('100,000 clients', '10,000 clients')));
  print(quiet.summary);
}

/** A server with so many clients, and the page that it answers. */
async function startList(name: string, clients: number): Promise<{ readonly route: Route; readonly page: unknown }> {
  const dataDir = scratchDirectory();
  const store = await openStore({ url: '', dataDir, log: pino({ level: 'silent' }) });
  await seedClients(store, clients);
  await store.close();
  const server = await startServer({ dataDir, environment: { ADIT_LOG_LEVEL: 'warn' } });
  const page = await call(server, '/client/list/', { limit: 10 });
  z.object({ rows: z.array(z.object({ Id: z.number(), IsConnect: z.literal(false), Rate: z.object({ NowRate: z.literal(0) }) })).length(10), total: z.literal(clients) }).parse(page);
  return { route: { name, url: `http://127.0.0.1:${server.httpPort}/client/list/`, pid: server.child.pid }, page };
}

async function startStatic(page: unknown): Promise<Route[]> {
  const file = path.join(scratchDirectory(), 'page.json');
  writeFileSync(file, JSON.stringify(page));
  const child = new Child(process.execPath, [path.join(import.meta.dirname, 'api', 'static-server.mjs'), file]);
  const [, port = ''] = await child.says(/listening on (\d+)/);
  return [
    { name: 'static JSON, small', url: `http://127.0.0.1:${port}/small`, pid: child.pid },
    { name: 'static JSON, same page', url: `http://127.0.0.1:${port}/page`, pid: child.pid },
  ];
}

/** The same signed form goes to every route; Express alone doesn't look at it. */
async function measure({ url, pid }: Route): Promise<Sample> {
  const { auth_key: authKey, timestamp } = signedNow();
  const script = path.join(scratchDirectory(), 'post.lua');
  writeFileSync(script, `wrk.method = "POST"
wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
wrk.body = "auth_key=${authKey}&timestamp=${timestamp}&limit=10"
`);
  const before = cpuSeconds([pid]);
  const { perSecond, requests, errors } = await wrk({ url, connections: 32, seconds, script });
  return { figures: { 'requests/s': perSecond, 'CPU us/request': (cpuSeconds([pid]) - before) * 1e6 / requests }, errors };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
