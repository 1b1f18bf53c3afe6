import path from 'node:path';
import { expect } from '@jest/globals';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { openDatabase } from '../../src/store/sqlite/binding.ts';
import { sized } from './endurance.ts';
import { eventuallyAsync } from './eventually.ts';
import { startServer, type ServerProcess } from './processes.ts';
import { serve } from './served.ts';
import { refusal, roundTrip, startEcho, visit } from './target.ts';
import { observe, Writer, type Observed } from './writer.ts';

/** How often a server is killed, and during how much. */
interface Crashes {
  readonly crashes: number;
  readonly writers: number;
  /** Acknowledged writes before the first crash. */
  readonly writes: number;
}

/** The agent is back, and listeners are open, after this many ms at most; in `npm test`, other suites use the processors too. */
const BACK_MS = sized(60_000, 20_000);

/** Kills a server during parallel writers, again and again: it has all that it acknowledged, and no half of anything. */
export async function expectNothingLost({ crashes, writers: count, writes }: Crashes): Promise<void> {
  const served = await serve((await startEcho()).address);
  const { dataDir, httpPort, bridgePort } = served.server;
  let { server } = served;
  const writers = Array.from({ length: count }, (_, index) => new Writer(index));
  let before = await observe(server);

  for (let crash = 0; crash < crashes; crash++) {
    // Another number each time, so that it dies in another moment.
    let left = writes + 37 * crash;
    const onWrite = (): void => {
      if (--left === 0) server.child.kill('SIGKILL');
    };
    const outcomes = await Promise.all(writers.map((writer) => writer.run(server, writer.own(before.written), before.ids, onWrite)));
    expect(await server.child.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expectConsistent(dataDir);

    server = await startServer({ dataDir, httpPort, bridgePort });
    const ready = performance.now();
    const after = await observe(server);
    outcomes.forEach(({ acknowledged, attempted }, index) => {
      expect([acknowledged, attempted]).toContainEqual(writers[index]?.own(after.written));
    });
    await eventuallyAsync(() => echoes(served.tunnel.port), (answer) => answer === 'hello', BACK_MS);
    expect(performance.now() - ready).toBeLessThan(BACK_MS);
    before = await expectListeners(server);
  }
}

/** What comes back through the tunnel; why nothing does. */
async function echoes(port: number): Promise<string> {
  const refused = await refusal(port);
  if (refused !== '') return refused;
  const visitor = await visit(port);
  return Promise.race([
    roundTrip(visitor, 'hello'),
    new Promise<string>((resolve) => {
      visitor.once('close', () => resolve('closed')).once('end', () => resolve('ended'));
    }),
  ]);
}

/** What is stored by itself, before the server looks at it: kept counts agree with the rows. */
function expectConsistent(dataDir: string): void {
  const database = openDatabase(path.join(dataDir, databaseFileName), { busyMs: 5000 });
  const rows = (sql: string): unknown[] => database.prepare(sql).all();
  expect(rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(
    rows(
      `SELECT t.* FROM (SELECT id, "tunnelCount" AS kept, (SELECT COUNT(*) FROM "Tunnel" WHERE "clientId" = c.id) AS counted FROM "Client" c) t WHERE kept <> counted`,
    ),
  ).toEqual([]);
  expect(rows(`SELECT name, value FROM "Total" WHERE value <> 0 ORDER BY name`)).toEqual(rows(`
    SELECT 'audit' AS name, COUNT(*) AS value FROM "AuditEntry"
    UNION ALL SELECT 'clients', COUNT(*) FROM "Client"
    UNION ALL SELECT 'tunnels', COUNT(*) FROM "Tunnel"
    UNION ALL SELECT 'tunnels:' || mode, COUNT(*) FROM "Tunnel" GROUP BY mode`));
  database.close();
}

/** Every started tunnel listens and no stopped one does. Another program may have used a free port in between: then it is tried again. */
async function expectListeners(server: ServerProcess): Promise<Observed> {
  const observed = await eventuallyAsync(() => observe(server), ({ tunnels }) => tunnels.every(({ Status, RunStatus }) => Status === RunStatus), BACK_MS);
  for (const { Port, Status } of observed.tunnels) if (Status) expect(await refusal(Port)).not.toBe('ECONNREFUSED');
  return observed;
}
