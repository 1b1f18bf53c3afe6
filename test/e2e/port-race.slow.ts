import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { endChildren } from '../support/child.ts';
import { freePortRange } from '../support/free-port.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { call, startServer, write, type ServerProcess } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { refusal } from '../support/target.ts';

// Short form: test/legacy/races.test.ts

const ALLOWED = 60;
const ADDS = 100;
const occupied = { status: 0, msg: 'The port cannot be opened because it may has been occupied or is no longer allowed.' };
afterEach(endChildren);
afterAll(removeScratchDirectories);

const list = z.object({ total: z.number(), rows: z.array(z.object({ Id: z.number(), Port: z.number(), RunStatus: z.boolean() })) });

/** Adds tunnels without a port all at once. @returns the server, the answers to the failed calls, and all tunnels by their ports */
async function race(environment: Readonly<Record<string, string>> = {}) {
  const first = await freePortRange(ALLOWED);
  const server = await startServer({ environment: { ...environment, ADIT_ALLOW_PORTS: `${first}-${first + ALLOWED - 1}` } });
  const client = await write(server, '/client/add/', { vkey: 'key' });
  const answers = await Promise.all(Array.from({ length: ADDS }, () => call(server, '/index/add/', { client_id: client, type: 'tcp', port: 0, target: '22' })));
  return { server, first, failed: answers.filter((answer) => !JSON.stringify(answer).includes('add success')), tunnels: await tunnelsOf(server) };
}

async function tunnelsOf(server: ServerProcess) {
  const { total, rows } = list.parse(await call(server, '/index/gettunnel/'));
  expect(total).toBe(rows.length);
  return rows.toSorted((a, b) => a.Port - b.Port);
}

/** Each allowed port has one tunnel that listens, and the others were refused with the contract's text. */
async function expectExact({ first, failed, tunnels }: Awaited<ReturnType<typeof race>>): Promise<void> {
  expect(failed).toEqual(Array.from({ length: ADDS - ALLOWED }, () => occupied));
  expect(tunnels.map(({ Port }) => Port)).toEqual(Array.from({ length: ALLOWED }, (_, n) => first + n));
  expect([new Set(tunnels.map(({ Id }) => Id)).size, tunnels.every(({ RunStatus }) => RunStatus)]).toEqual([ALLOWED, true]);
  for (const { Port } of tunnels) expect(await refusal(Port)).not.toBe('ECONNREFUSED');
}

test(`of ${ADDS} tunnels that ask for any port at once, where ${ALLOWED} are allowed, exactly ${ALLOWED} get one, each its own; a released port is assigned again`, async () => {
  const raced = await race();
  await expectExact(raced);
  const [gone] = raced.tunnels;
  await write(raced.server, '/index/del/', { id: gone?.Id ?? 0 });
  const id = await write(raced.server, '/index/add/', { client_id: 1, type: 'tcp', port: 0, target: '22' });
  expect((await tunnelsOf(raced.server)).find(({ Id }) => Id === id)?.Port).toBe(gone?.Port);
});

describeWith('initdb', 'on PostgreSQL', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  });
  afterAll(async () => {
    await endChildren();
    await postgresql.stop();
  });

  test(`of ${ADDS} tunnels that ask for any port at once exactly as many get one as there are ports`, async () => {
    const raced = await race({ ADIT_DATABASE_URL: await postgresql.createDatabase() });
    await expectExact(raced);
    expect(raced.tunnels).toHaveLength(ALLOWED);
  });
});
