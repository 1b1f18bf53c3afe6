import { z } from 'zod';
import { call } from '../../test/support/processes.ts';
import { checkouts, measureAll, startSeeded, type Called, type Checkout, type Plan } from './calls.ts';
import { EXPRESS, startExpress, startNpsWith } from './peers.ts';

const FEW = 10_000;
const MANY = 100_000;
const crowded = '100,000 clients';
const path = '/client/list/';
const form = { form: 'limit=10', connections: 32 };

/** A signed POST /client/list/ with limit 10, over 10,000 clients, and over 100,000. */
export async function measureList(plan: Plan): Promise<void> {
  const small: Listed[] = [];
  for (const checkout of checkouts(plan)) small.push(await startList(checkout, FEW));
  const large = await startList({ name: crowded }, MANY);
  const nps = await startNpsWith(FEW, (line) => plan.results.say(line));
  const peers = [
    await startExpress(small[0]?.page, form),
    ...(nps ? [{ ...form, name: 'NPS', urls: [`http://127.0.0.1:${nps.httpPort}${path}`], pids: [nps.child.pid] }] : []),
  ];
  const samples = await measureAll([...small.map(({ called }) => called), large.called, ...peers], plan);
  plan.results.add({
    name: 'list',
    title: `POST ${path}, limit 10, signed, over 10,000 clients`,
    metrics: [
      { name: 'requests/s', digits: 0, more: true, goals: { NPS: 10 } },
      { name: 'CPU us/request', digits: 0, more: false, former: 0.6, goals: { [EXPRESS]: 4 } },
    ],
  }, new Map([...samples].filter(([name]) => name !== crowded)));
  plan.results.add({
    name: 'list-large',
    title: 'The same over 100,000 clients',
    metrics: [
      { name: 'requests/s', digits: 0, more: true },
      { name: 'CPU us/request', digits: 0, more: false, goals: { '10,000 clients': 1.2 } },
    ],
  }, new Map([[crowded, samples.get(crowded) ?? []], ['10,000 clients', samples.get('Adit') ?? []]]));
}

interface Listed {
  readonly called: Called;
  readonly page: unknown;
}

/** A server with so many clients, and the page that it answers. */
async function startList(checkout: Checkout, clients: number): Promise<Listed> {
  const server = await startSeeded(checkout, { clients });
  const page = await call(server, path, { limit: 10 });
  z.object({
    rows: z.array(z.object({ Id: z.number(), IsConnect: z.literal(false), Rate: z.object({ NowRate: z.literal(0) }) })).length(10),
    total: z.literal(clients),
  }).parse(page);
  return { called: { name: checkout.name, urls: [`http://127.0.0.1:${server.httpPort}${path}`], pids: [server.child.pid], ...form }, page };
}
