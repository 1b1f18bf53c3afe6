import { jest } from '@jest/globals';
import Database from 'better-sqlite3';
import pg from 'pg';
import { z } from 'zod';
import type { Store } from '../../src/store/store.ts';

/** How many SQL statements the store sends to its database while `work` runs, whoever in the program sends them. */
export async function countStatements(store: Store, work: () => Promise<unknown>): Promise<number> {
  return (await statementsOf(store, work)).length;
}

/** The text of the SQL statements that the store sends to its database while `work` runs, whoever in the program sends them. */
export async function statementsOf({ dialect }: Store, work: () => Promise<unknown>): Promise<string[]> {
  const spies = dialect === 'sqlite' ? sqliteSpies() : [jest.spyOn(pg.Client.prototype, 'query')];
  try {
    await work();
    return spies.flatMap(({ mock }) => mock.calls.map((args: unknown[], index) => dialect === 'sqlite'
      ? prepared.parse(mock.contexts[index]).source
      : query.parse(args[0])));
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

const prepared = z.object({ source: z.string() });
const query = z.union([z.string(), z.object({ text: z.string() }).transform(({ text }) => text)]);

/** A statement that was prepared once may run often: what counts are the runs. */
function sqliteSpies() {
  const database = new Database(':memory:');
  const statement: unknown = Object.getPrototypeOf(database.prepare('SELECT 1'));
  database.close();
  if (!isStatement(statement)) throw new Error('better-sqlite3 has changed: its statements have no all, get, run and iterate');
  return [jest.spyOn(statement, 'all'), jest.spyOn(statement, 'get'), jest.spyOn(statement, 'run'), jest.spyOn(statement, 'iterate')];
}

function isStatement(value: unknown): value is Record<'all' | 'get' | 'run' | 'iterate', () => unknown> {
  return typeof value === 'object' && value !== null && ['all', 'get', 'run', 'iterate'].every((name) => name in value);
}
