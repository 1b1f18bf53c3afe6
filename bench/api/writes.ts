import { z } from 'zod';
import { findProgram } from '../../test/support/find-program.ts';
import { startPostgresql } from '../../test/support/postgresql.ts';
import { call, startServer, type ServerOptions } from '../../test/support/processes.ts';
import { startServers } from '../../test/support/several-servers.ts';
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

/** The same by twelve callers, divided between so many servers on one PostgreSQL database. Each server opens each listener. */
export async function measureWritesOfNodes(plan: Plan): Promise<void> {
  if (findProgram('initdb') === undefined) return plan.results.say('writes through several servers are left out: initdb is missing\n');
  const postgresql = await startPostgresql();
  try {
    const called: Called[] = [];
    for (const count of [1, 2, 3]) {
      const servers = await startServers(await postgresql.createDatabase(), count, { ADIT_ALLOW_PORTS: '' });
      const [first] = servers;
      if (!first) throw new Error('there is a server');
      const { id } = z.object({ id: z.number() }).parse(await call(first, '/client/add/'));
      called.push({
        name: count === 1 ? 'one server' : `${count} servers`,
        urls: servers.map(({ httpPort }) => `http://127.0.0.1:${httpPort}/index/add/`),
        pids: servers.map(({ child }) => child.pid),
        form: `client_id=${id}&type=tcp&target=127.0.0.1:22`,
        connections: 12,
      });
    }
    const metrics = [{ name: 'requests/s', digits: 0, more: true }, { name: 'CPU us/request', digits: 0, more: false }];
    plan.results.add(
      { name: 'writes, servers', title: 'POST /index/add/ (createTunnel), 12 connections, servers on one PostgreSQL', metrics },
      await measureAll(called, plan),
    );
  } finally {
    await postgresql.stop();
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
