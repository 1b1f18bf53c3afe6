import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { z } from 'zod';
import { Child } from '../../test/support/child.ts';
import { call } from '../../test/support/processes.ts';
import { scratchDirectory } from '../../test/support/scratch.ts';
import { seedClients } from '../../test/support/seed.ts';
import { report, type Samples } from '../report.ts';
import type { Metric } from '../works/work.ts';
import { measureAll, startSeeded, type Called, type Plan } from './calls.ts';

/** A signed POST /client/list/ with limit 10, over 10,000 and over 100,000 clients, beside an Express route that answers a fixed object. */
export async function measureList(plan: Plan): Promise<string> {
  const small = await startList('10,000 clients', 10_000);
  const large = await startList('100,000 clients', 100_000);
  const samples = await measureAll([small.called, large.called, ...await startStatic(small.page)], plan);
  const only = (...names: string[]): Samples => new Map(names.map((name) => [name, samples.get(name) ?? []]));
  const metrics = (rate: Metric['goals'], cpu: Metric['goals']): Metric[] => [
    { name: 'requests/s', digits: 0, more: true, goals: rate }, { name: 'CPU us/request', digits: 0, more: false, goals: cpu },
  ];
  return [
    report({ title: 'POST /client/list/, limit 10, signed', metrics: metrics({ 'static JSON, small': 0.25 }, undefined) }, only('10,000 clients', 'static JSON, small', 'static JSON, same page')),
    report({ title: 'Ten times the clients', metrics: metrics(undefined, { '10,000 clients': 1.2 }) }, only('100,000 clients', '10,000 clients')),
  ].join('\n');
}

const form = { form: 'limit=10', connections: 32 };

/** A server with so many clients, and the page that it answers. */
async function startList(name: string, clients: number): Promise<{ readonly called: Called; readonly page: unknown }> {
  const server = await startSeeded((store) => seedClients(store, clients));
  const page = await call(server, '/client/list/', { limit: 10 });
  z.object({ rows: z.array(z.object({ Id: z.number(), IsConnect: z.literal(false), Rate: z.object({ NowRate: z.literal(0) }) })).length(10), total: z.literal(clients) }).parse(page);
  return { called: { name, url: `http://127.0.0.1:${server.httpPort}/client/list/`, pid: server.child.pid, ...form }, page };
}

/** The same signed form goes to Express, which doesn't look at it. */
async function startStatic(page: unknown): Promise<Called[]> {
  const file = path.join(scratchDirectory(), 'page.json');
  writeFileSync(file, JSON.stringify(page));
  const child = new Child(process.execPath, [path.join(import.meta.dirname, 'static-server.mjs'), file]);
  const [, port = ''] = await child.says(/listening on (\d+)/);
  return [
    { name: 'static JSON, small', url: `http://127.0.0.1:${port}/small`, pid: child.pid, ...form },
    { name: 'static JSON, same page', url: `http://127.0.0.1:${port}/page`, pid: child.pid, ...form },
  ];
}
