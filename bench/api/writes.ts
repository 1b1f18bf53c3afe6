import path from 'node:path';
import { z } from 'zod';
import { findProgram } from '../../test/support/find-program.ts';
import { startPostgresql } from '../../test/support/postgresql.ts';
import { call, startServer, type ServerOptions } from '../../test/support/processes.ts';
import { report } from '../report.ts';
import { measureAll, type Called, type Plan } from './calls.ts';

const present = 'this version';
const former = 'the baseline';

/** POST /index/add/, signed, by eight callers at once: tcp tunnels of one client, each with a listener of its own; beside the baseline, if there is one. */
export async function measureWrites(plan: Plan): Promise<string> {
  return measureOn('SQLite', plan, async () => ({}));
}

/** The same on PostgreSQL, which does not wait for the disk here. */
export async function measurePostgresqlWrites(plan: Plan): Promise<string> {
  if (findProgram('initdb') === undefined) return 'PostgreSQL is left out: initdb is missing\n';
  const server = await startPostgresql();
  try {
    return await measureOn('PostgreSQL', plan, async () => ({ ADIT_DATABASE_URL: await server.createDatabase() }));
  } finally {
    await server.stop();
  }
}

async function measureOn(database: string, plan: Plan, environment: () => Promise<NonNullable<ServerOptions['environment']>>): Promise<string> {
  const called = [await adder(present, { environment: await environment() })];
  if (plan.baseline !== undefined) called.push(await adder(former, { environment: await environment(), program: path.join(plan.baseline, 'dist/main.js') }));
  const samples = await measureAll(called, plan);
  const metrics = [{ name: 'requests/s', digits: 0, more: true, goals: { [former]: 2 } }, { name: 'CPU us/request', digits: 0, more: false }];
  return report({ title: `POST /index/add/ (createTunnel), 8 connections, ${database}`, metrics }, samples);
}

async function adder(name: string, { environment, ...options }: ServerOptions): Promise<Called> {
  const server = await startServer({ ...options, environment: { ...environment, ADIT_LOG_LEVEL: 'warn' } });
  const { id } = z.object({ id: z.number() }).parse(await call(server, '/client/add/'));
  return { name, url: `http://127.0.0.1:${server.httpPort}/index/add/`, pid: server.child.pid, form: `client_id=${id}&type=tcp&target=127.0.0.1:22`, connections: 8 };
}
