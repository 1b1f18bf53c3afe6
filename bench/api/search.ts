import { z } from 'zod';
import { call } from '../../test/support/processes.ts';
import { checkouts, measureAll, startSeeded, type Called, type Plan } from './calls.ts';
import { EXPRESS, startExpress, startNpsWith } from './peers.ts';
import type { Metric } from '../works/work.ts';

const ROWS = 10_000;
const CONNECTIONS = 16;
/** Of each list: its path, and a part of a text that every row holds. */
const lists = {
  clients: ['/client/list/', 'ffice'],
  tunnels: ['/index/gettunnel/', 'unnel'],
  hosts: ['/index/hostlist/', 'xample'],
  users: ['/user/list/', 'eam'],
} as const;
/** Nobody has it, so every row is looked at. */
const NOWHERE = 'nowhere to be found';

const metrics: readonly Metric[] = [
  { name: 'requests/s', digits: 0, more: true, goals: { NPS: 5 } },
  { name: 'CPU us/request', digits: 0, more: false, former: 0.3, goals: { [EXPRESS]: 4 } },
];

/** A search for part of a text in each list of 10,000 rows: for what no row has, and for what every row has; the first list also compared with other programs. */
export async function measureSearch(plan: Plan): Promise<void> {
  const servers = [];
  for (const checkout of checkouts(plan)) {
    servers.push({ name: checkout.name, server: await startSeeded(checkout, { clients: ROWS, tunnels: ROWS, hosts: ROWS, users: ROWS }) });
  }
  const nps = await startNpsWith(ROWS, (line) => plan.results.say(line));
  for (const [list, [path, everywhere]] of Object.entries(lists)) {
    for (const [search, total] of [[NOWHERE, 0], [everywhere, ROWS]] as const) {
      const form = { form: new URLSearchParams({ search, limit: '10' }).toString(), connections: CONNECTIONS };
      const called: Called[] = [];
      const pages: unknown[] = [];
      for (const { name, server } of servers) {
        const page = await call(server, path, { search, limit: 10 });
        z.object({ total: z.literal(total) }).parse(page);
        pages.push(page);
        called.push({ ...form, name, urls: [`http://127.0.0.1:${server.httpPort}${path}`], pids: [server.child.pid] });
      }
      if (list === 'clients') called.push(await startExpress(pages[0], form));
      if (list === 'clients' && nps) called.push({ ...form, name: 'NPS', urls: [`http://127.0.0.1:${nps.httpPort}${path}`], pids: [nps.child.pid] });
      const found = total === 0 ? 'no row' : 'every row';
      plan.results.add({
        name: `search-${list}-${total === 0 ? 'none' : 'all'}`,
        title: `A search among 10,000 ${list}, limit 10, ${CONNECTIONS} connections; ${found} has it`,
        metrics,
      }, await measureAll(called, plan));
    }
  }
}
