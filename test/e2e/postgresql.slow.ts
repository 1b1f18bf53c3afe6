import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { getTunnel, signedNow, startAgent, startServer } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { startPostgresql, type PostgresqlServer } from '../support/postgresql.ts';
import { serve } from '../support/served.ts';
import { roundTrip, startEcho, visit } from '../support/target.ts';

// Short form: test/e2e/several-servers.test.ts

describeWith('initdb', 'a server on PostgreSQL', () => {
  let postgresql: PostgresqlServer;
  beforeAll(async () => {
    postgresql = await startPostgresql();
  });
  afterAll(() => postgresql.stop());

  test('opens a tunnel, and opens it again after it was killed', async () => {
    const environment = { ADIT_DATABASE_URL: await postgresql.createDatabase() };
    const { server, agent, vkey, tunnel } = await serve((await startEcho()).address, { environment });
    expect(await roundTrip(await visit(tunnel.port), 'hello')).toBe('hello');
    const { auth_key: key, timestamp } = signedNow();
    const headers = { 'x-adit-auth-key': key, 'x-adit-timestamp': String(timestamp) };
    // The client and the tunnel.
    expect(await (await fetch(`http://127.0.0.1:${server.httpPort}/metrics`, { headers })).text()).toMatch(/^adit_change_log_position 2$/m);

    await server.child.end();
    await agent.end();
    const again = await startServer({ environment, dataDir: server.dataDir });
    await startAgent(again, vkey);
    expect(await getTunnel(again, tunnel.id)).toMatchObject({ Port: tunnel.port, RunStatus: true });
    expect(await roundTrip(await visit(tunnel.port), 'again')).toBe('again');
  });
});
