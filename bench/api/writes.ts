import { z } from 'zod';
import { findProgram } from '../../test/support/find-program.ts';
import { startPostgresql } from '../../test/support/postgresql.ts';
import { call, startServer, type ServerOptions } from '../../test/support/processes.ts';
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
    url: `http://127.0.0.1:${server.httpPort}/index/add/`,
    pid: server.child.pid,
    form: `client_id=${id}&type=tcp&target=127.0.0.1:22`,
    connections: 8,
  };
}
