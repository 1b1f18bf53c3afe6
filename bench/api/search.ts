import { z } from 'zod';
import { call } from '../../test/support/processes.ts';
import { checkouts, measureAll, startSeeded, type Called, type Plan } from './calls.ts';

const ROWS = 10_000;
/** Of each list: its path, and a part of a text that every row holds. */
const lists = { clients: ['/client/list/', 'ffice'], tunnels: ['/index/gettunnel/', 'unnel'], hosts: ['/index/hostlist/', 'xample'], users: ['/user/list/', 'eam'] } as const;
/** Nobody has it, so every row is looked at. */
const NOWHERE = 'nowhere to be found';

/** A search for part of a text in each list of 10,000 rows, at 16 connections: for what no row has, and for what every row has. */
export async function measureSearch(plan: Plan): Promise<void> {
  const servers = [];
  for (const checkout of checkouts(plan)) servers.push({ name: checkout.name, server: await startSeeded(checkout, { clients: ROWS, tunnels: ROWS, hosts: ROWS, users: ROWS }) });
  for (const [list, [path, everywhere]] of Object.entries(lists)) {
    for (const [search, total] of [[NOWHERE, 0], [everywhere, ROWS]] as const) {
      const form = new URLSearchParams({ search, limit: '10' }).toString();
      const called: Called[] = [];
      for (const { name, server } of servers) {
        z.object({ total: z.literal(total) }).parse(await call(server, path, { search, limit: 10 }));
        called.push({ name, url: `http://127.0.0.1:${server.httpPort}${path}`, pid: server.child.pid, form, connections: 16 });
      }
      const found = `${list}: ${total === 0 ? 'no row' : 'every row'}`;
      plan.results.add({ name: `search, ${found}`, title: `A search among 10,000 rows, limit 10, 16 connections; ${found}`, metrics: [
        { name: 'requests/s', digits: 0, more: true, limit: 200 }, { name: 'CPU us/request', digits: 0, more: false, former: 0.3 },
      ] }, await measureAll(called, plan));
    }
  }
}
