import { z } from 'zod';
import { call } from '../../test/support/processes.ts';
import { seedClients, seedHosts, seedTunnels, seedUsers } from '../../test/support/seed.ts';
import { report } from '../report.ts';
import { measureAll, startSeeded, type Called, type Plan } from './calls.ts';

const ROWS = 10_000;
/** Of each list: its path, and a part of a text that every row holds. */
const lists = { clients: ['/client/list/', 'ffice'], tunnels: ['/index/gettunnel/', 'unnel'], hosts: ['/index/hostlist/', 'xample'], users: ['/user/list/', 'eam'] } as const;
/** Nobody has it, so every row is looked at. */
const NOWHERE = 'nowhere to be found';

/** A search for part of a text in each list of 10,000 rows, at 16 connections: for what no row has, and for what every row has. */
export async function measureSearch(plan: Plan): Promise<string> {
  const server = await startSeeded(async (store) => {
    const [client = 0] = await seedClients(store, ROWS);
    await seedTunnels(store, client, ROWS);
    await seedHosts(store, client, ROWS);
    await seedUsers(store, ROWS);
  });
  const called: Called[] = [];
  for (const [name, [path, everywhere]] of Object.entries(lists)) {
    for (const [search, total] of [[NOWHERE, 0], [everywhere, ROWS]] as const) {
      z.object({ total: z.literal(total) }).parse(await call(server, path, { search, limit: 10 }));
      const form = new URLSearchParams({ search, limit: '10' }).toString();
      called.push({ name: `${name}: ${total === 0 ? 'no row' : 'every row'}`, url: `http://127.0.0.1:${server.httpPort}${path}`, pid: server.child.pid, form, connections: 16 });
    }
  }
  const samples = await measureAll(called, plan);
  const metrics = [{ name: 'requests/s', digits: 0, more: true, limit: 200 }, { name: 'CPU us/request', digits: 0, more: false }];
  return Array.from(samples, ([name, list]) => report({ title: `A search among 10,000 rows, limit 10, 16 connections; ${name}`, metrics }, new Map([['Adit', list]]))).join('\n');
}
