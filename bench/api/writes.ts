import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { z } from 'zod';
import { endChildren } from '../../test/support/child.ts';
import { findProgram } from '../../test/support/find-program.ts';
import { startOwnPostgresql, startPostgresql } from '../../test/support/postgresql.ts';
import { call, startServer, type ServerOptions } from '../../test/support/processes.ts';
import { startServers } from '../../test/support/several-servers.ts';
import { CpuShare, missingCpuShares } from '../cpu-share.ts';
import { checkouts, measureAll, type Called, type Plan } from './calls.ts';

/** POST /index/add/, signed, by eight callers at once: tcp tunnels of one client, each with a listener of its own. */
export async function measureWrites(plan: Plan): Promise<void> {
  return measureOn('SQLite', plan, async () => ({}));
}

/** The same on PostgreSQL, which does not wait for the disk here. */
export async function measurePostgresqlWrites(plan: Plan): Promise<void> {
  if (findProgram('initdb') === undefined) return plan.results.say('PostgreSQL is left out: initdb is missing\n');
  const server = await startPostgresql();
  try {
    await measureOn('PostgreSQL', plan, async () => ({ ADIT_DATABASE_URL: await server.createDatabase() }));
  } finally {
    await server.stop();
  }
}

/**
 * What the servers, PostgreSQL, and the callers with this process have of a core: as on machines of their own, no server takes time from another one. Together 1.3 cores,
 * so that a machine with two, which other programs use, has it at any time.
 */
const SHARES = { server: 0.25, postgresql: 0.35, callers: 0.2 } as const;

/** Writes by 24 callers, divided between one, two and three servers on one PostgreSQL database, each with a share of a core of its own. Each server applies each change. */
export async function measureWritesOfNodes(plan: Plan): Promise<void> {
  const missing = findProgram('initdb') === undefined ? 'initdb is missing' : missingCpuShares();
  if (missing !== undefined) return plan.results.say(`writes through several servers are left out: ${missing}\n`);
  const postgresql = await startOwnPostgresql();
  const shares: CpuShare[] = [];
  const give = (name: string, cores: number, pid: number): void => {
    const share = new CpuShare(name, cores);
    shares.push(share);
    share.add(pid);
  };
  try {
    give('callers', SHARES.callers, process.pid);
    give('postgresql', SHARES.postgresql, Number(readFileSync(path.join(postgresql.directory, 'data', 'postmaster.pid'), 'utf8').split('\n', 1)[0]));
    const adding: Called[] = [];
    const editing: Called[] = [];
    // The first one is compared with the others.
    for (const count of [3, 2, 1]) {
      const servers = await startServers(await postgresql.createDatabase(), count, { ADIT_ALLOW_PORTS: '', ADIT_LOG_LEVEL: 'info' });
      const [first] = servers;
      if (!first) throw new Error('there is a server');
      const { id } = z.object({ id: z.number() }).parse(await call(first, '/client/add/'));
      const pids = servers.map(({ child }) => child.pid);
      const all = { name: count === 1 ? 'one server' : `${count} servers`, pids, connections: 24 };
      const urls = (route: string): string[] => servers.map(({ httpPort }) => `http://127.0.0.1:${httpPort}${route}`);
      adding.push({ ...all, urls: urls('/index/add/'), form: `client_id=${id}&type=tcp&target=127.0.0.1:22` });
      for (const pid of pids) give(`server-${pid}`, SHARES.server, pid);
      editing.push({ ...all, urls: urls('/client/edit/'), form: `id=${id}`, numbered: 'remark' });
    }
    // With so little of a core, V8 would take minutes to compile the program.
    for (const called of [adding, editing]) await measureAll(called, { ...plan, rounds: 0 });
    for (const share of shares) share.limit();
    const metrics = [
      { name: 'requests/s', digits: 0, more: true, goals: { '2 servers': 1, 'one server': 1 } },
      { name: 'CPU us/request', digits: 0, more: false },
    ];
    const servers = `24 connections, servers on one PostgreSQL; a server has ${SHARES.server} of a core, PostgreSQL ${SHARES.postgresql}`;
    plan.results.add({ name: 'writes, servers', title: `POST /index/add/ (createTunnel), ${servers}`, metrics }, await measureAll(adding, plan));
    plan.results.add({ name: 'edits, servers', title: `POST /client/edit/ (updateClient), ${servers}`, metrics }, await measureAll(editing, plan));
  } finally {
    await endChildren();
    await postgresql.stop();
    for (const share of shares) share.end();
  }
}

async function measureOn(database: string, plan: Plan, environment: () => Promise<NonNullable<ServerOptions['environment']>>): Promise<void> {
  const called: Called[] = [];
  for (const { name, root } of checkouts(plan)) called.push(await adder(name, { environment: await environment(), root }));
  const metrics = [{ name: 'requests/s', digits: 0, more: true, former: 2 }, { name: 'CPU us/request', digits: 0, more: false }];
  plan.results.add(
    { name: `writes, ${database}`, title: `POST /index/add/ (createTunnel), 8 connections, ${database}`, metrics },
    await measureAll(called, plan),
  );
}

async function adder(name: string, { environment, ...options }: ServerOptions): Promise<Called> {
  const server = await startServer({ ...options, environment: { ...environment, ADIT_LOG_LEVEL: 'warn' } });
  const { id } = z.object({ id: z.number() }).parse(await call(server, '/client/add/'));
  return {
    name,
    urls: [`http://127.0.0.1:${server.httpPort}/index/add/`],
    pids: [server.child.pid],
    form: `client_id=${id}&type=tcp&target=127.0.0.1:22`,
    connections: 8,
  };
}
