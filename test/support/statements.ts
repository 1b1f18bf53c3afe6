import { jest } from '@jest/globals';
import pg from 'pg';
import { z } from 'zod';
import { UnchangedRows } from '../../src/store/hot/unchanged-rows.ts';
import { HotConnection } from '../../src/store/sqlite/hot-connection.ts';
import { WorkerLink } from '../../src/store/sqlite/worker-link.ts';
import type { Store } from '../../src/store/store.ts';

/** How many SQL statements the store sends to its database while `work` runs, from any part of the program. Counts results that the store has cached, too. */
export async function countStatements(store: Store, work: () => Promise<unknown>): Promise<number> {
  return (await statementsOf(store, work)).length;
}

/** The text of the SQL statements that the store sends to its database while `work` runs, from any part of the program. */
export async function statementsOf({ dialect }: Store, work: () => Promise<unknown>): Promise<string[]> {
  if (dialect === 'postgresql') {
    const spy = jest.spyOn(pg.Client.prototype, 'query');
    try {
      await work();
      // The connection that holds the server's locks asks every few seconds, whatever else happens.
      return spy.mock.calls.map((args: unknown[]) => query.parse(args[0])).filter((text) => !text.includes(' AS leads'));
    } finally {
      spy.mockRestore();
    }
  }
  const sent: string[] = [];
  const begun = new Set<unknown>();
  const ask = jest.spyOn(WorkerLink.prototype, 'ask');
  const read = jest.spyOn(HotConnection.prototype, 'page');
  const unchanged = jest.spyOn(UnchangedRows.prototype, 'at').mockReturnValue(undefined);
  try {
    await work();
    for (const [what, text, , transaction] of ask.mock.calls.map((args: unknown[]) => args)) {
      if (what === 'next') continue;
      // The first statement of a transaction begins it.
      if (what !== 'rows' && transaction !== undefined && !begun.has(transaction)) sent.push('BEGIN IMMEDIATE');
      begun.add(transaction);
      sent.push(typeof text === 'string' ? text : String(what).toUpperCase());
    }
    return [...sent, ...read.mock.calls.map(([text]) => text)];
  } finally {
    ask.mockRestore();
    read.mockRestore();
    unchanged.mockRestore();
  }
}

const query = z.union([z.string(), z.object({ text: z.string() }).transform(({ text }) => text)]);
