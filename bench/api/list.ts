import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { z } from 'zod';
import { Child } from '../../test/support/child.ts';
import { call } from '../../test/support/processes.ts';
import { scratchDirectory } from '../../test/support/scratch.ts';
import type { Measured } from '../report.ts';
import { checkouts, measureAll, startSeeded, type Called, type Checkout, type Plan } from './calls.ts';

const FEW = 10_000;
const MANY = 100_000;
const crowded = '100,000 clients';

/** A signed POST /client/list/ with limit 10, over 10,000 clients beside Express routes that answer a fixed object, and over 100,000. */
export async function measureList(plan: Plan): Promise<void> {
  const small: { readonly called: Called; readonly page: unknown }[] = [];
  for (const checkout of checkouts(plan)) small.push(await startList(checkout, FEW));
  const large = await startList({ name: crowded }, MANY);
  const samples = await measureAll([...small.map(({ called }) => called), large.called, ...await startStatic(small[0]?.page)], plan);
  const own: readonly Measured[] = samples.get('Adit') ?? [];
  plan.results.add({ name: 'list', title: 'POST /client/list/, limit 10, signed, over 10,000 clients', metrics: [
    { name: 'requests/s', digits: 0, more: true }, { name: 'CPU us/request', digits: 0, more: false, former: 0.6, goals: { 'Express, same page': 4 } },
  ] }, new Map([...samples].filter(([name]) => name !== crowded)));
  plan.results.add({ name: 'list, ten times the clients', title: 'The same over 100,000 clients', metrics: [
    { name: 'requests/s', digits: 0, more: true }, { name: 'CPU us/request', digits: 0, more: false, goals: { '10,000 clients': 1.2 } },
  ] }, new Map([[crowded, samples.get(crowded) ?? []], ['10,000 clients', own]]));
}

const form = { form: 'limit=10', connections: 32 };

/** A server with so many clients, and the page that it answers. */
async function startList(checkout: Checkout, clients: number): Promise<{ readonly called: Called; readonly page: unknown }> {
  const server = await startSeeded(checkout, { clients });
  const page = await call(server, '/client/list/', { limit: 10 });
  z.object({ rows: z.array(z.object({ Id: z.number(), IsConnect: z.literal(false), Rate: z.object({ NowRate: z.literal(0) }) })).length(10), total: z.literal(clients) }).parse(page);
  return { called: { name: checkout.name, url: `http://127.0.0.1:${server.httpPort}/client/list/`, pid: server.child.pid, ...form }, page };
}

/** The same signed form goes to Express, which doesn't look at it. */
async function startStatic(page: unknown): Promise<Called[]> {
  const file = path.join(scratchDirectory(), 'page.json');
  writeFileSync(file, JSON.stringify(page));
  const child = new Child(process.execPath, [path.join(import.meta.dirname, 'static-server.mjs'), file]);
  const [, port = ''] = await child.says(/listening on (\d+)/);
  return [
    { name: 'Express, small', url: `http://127.0.0.1:${port}/small`, pid: child.pid, ...form },
    { name: 'Express, same page', url: `http://127.0.0.1:${port}/page`, pid: child.pid, ...form },
  ];
}
