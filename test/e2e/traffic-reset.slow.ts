import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { openDatabase } from '../../src/store/sqlite/binding.ts';
import { endChildren } from '../support/child.ts';
import { clientNow, edit, isAllowedByPassword, measureFlow, startLimited } from '../support/limit-figures.ts';
import { type ServerProcess, signedNow, startServer } from '../support/processes.ts';
import { removeScratchDirectories } from '../support/scratch.ts';

// Short form: test/schema/traffic-reset.test.ts

const MIB = 2 ** 20;

afterAll(async () => {
  await endChildren();
  removeScratchDirectories();
});

/** Runs an operation as an administrator. */
async function run({ httpPort }: ServerProcess, query: string): Promise<unknown> {
  const { auth_key: key, timestamp } = signedNow();
  const headers = { 'content-type': 'application/json', 'x-adit-auth-key': key, 'x-adit-timestamp': String(timestamp), connection: 'close' };
  return (await fetch(`http://127.0.0.1:${httpPort}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })).json();
}

/** Bytes of both directions in a client's row, and in its traffic series. */
function stored({ dataDir }: ServerProcess): { readonly row: number; readonly series: number } {
  const database = openDatabase(path.join(dataDir, databaseFileName), { busyMs: 5000 });
  const rows = database.prepare(`SELECT "inletBytes" + "exportBytes" AS row,
    (SELECT sum("inletBytes" + "exportBytes") FROM "TrafficSample" WHERE resource = 'client' AND "resourceId" = 1 AND step = 'day') AS series FROM "Client" WHERE id = 1`)
    .all();
  database.close();
  const [found] = z.array(z.object({ row: z.number(), series: z.number() })).parse(rows);
  return found ?? { row: 0, series: 0 };
}

test('a reset lets a client serve again that has passed its flow limit, at once and after a restart; the traffic series keep what has moved', async () => {
  const limited = await startLimited();
  const { server, clientId, ports: [port] } = limited;
  await measureFlow(limited, { streams: 2, megabytes: 2 });
  expect(await isAllowedByPassword(port)).toBe(false);
  const { bytes: moved } = await clientNow(limited);
  expect(moved).toBeGreaterThan(2 * MIB);
  expect(await run(server, `mutation { resetClientTraffic(id: "${clientId}") { runtime { inletBytes exportBytes } } }`)).toEqual({
    data: { resetClientTraffic: { runtime: { inletBytes: 0, exportBytes: 0 } } },
  });
  expect(await isAllowedByPassword(port)).toBe(true);
  server.child.kill('SIGTERM');
  await server.child.exited;
  const after = stored(server);
  expect(after.row).toBeLessThan(1000);
  expect(after.series).toBe(moved + after.row);

  const said = limited.agent.output.length;
  const { dataDir, httpPort, bridgePort, tlsPort } = server;
  const again = { ...limited, server: await startServer({ dataDir, httpPort, bridgePort, tlsPort }) };
  await limited.agent.says(/connected to/, said);
  expect(await isAllowedByPassword(port)).toBe(true);
  expect((await clientNow(again)).bytes).toBeLessThan(2000);
  await edit(again, { flow_limit: 0 });
  limited.close();
});
