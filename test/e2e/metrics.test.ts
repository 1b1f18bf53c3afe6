import net from 'node:net';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { call, signedNow } from '../support/processes.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { subscribe } from '../support/sse.ts';
import { graphql } from '../support/several-servers.ts';
import { serve } from '../support/served.ts';
import { version } from '../../src/version.ts';
import { roundTrip, startEcho, visit, visitUntilClosed } from '../support/target.ts';

const shownSchema = z.object({ viewer: z.object({ name: z.string() }), server: z.looseObject({ startedAt: z.string() }) });

/** Settings that a server shows, each with a value of its own. */
const environment = {
  ...{ ADIT_ALLOW_LOCAL_PROXY: 'true', ADIT_ALLOW_PORTS: '1000-65535', ADIT_ADMIN_USERNAME: 'root', ADIT_AUTH_CRYPT_KEY: 'short' },
  ...{ ADIT_AUDIT_DAYS: '11', ADIT_TRAFFIC_MINUTE_DAYS: '12', ADIT_TRAFFIC_HOUR_DAYS: '13', ADIT_TRAFFIC_DAY_DAYS: '14' },
  ...{
    ADIT_PUBLIC_URL: 'https://panel.test/adit',
    ADIT_ACME: 'true',
    ADIT_ACME_DIRECTORY: 'https://acme.test/directory',
    ADIT_LOG_LEVEL: 'visitors:debug,info',
  },
};

test('only administrators can read the metrics, in the Prometheus format; the server shows its settings and ports, limits connections, and ends subscriptions when it stops', async () => {
  const began = Date.now();
  const { server, tunnel, agent } = await serve((await startEcho()).address, { client: { max_conn: 1 }, environment });
  // What the engine knows is stored before it is counted.
  const counted = await graphql(server, '{ server { counts { clients { connected } tunnels { running } } } }');
  expect(counted).toEqual({ server: { counts: { clients: { connected: 1 }, tunnels: { running: 1 } } } });
  const visitor = await visit(tunnel.port);
  await roundTrip(visitor, 'hello');
  await visitUntilClosed(tunnel.port);
  const url = `http://127.0.0.1:${server.httpPort}/metrics`;
  const { auth_key: key, timestamp } = signedNow();
  const signature = { 'x-adit-auth-key': key, 'x-adit-timestamp': String(timestamp) };
  const answer = await fetch(url, { headers: signature });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  const text = await answer.text();
  for (
    const line of [
      'adit_sessions 1',
      'adit_visitors 1',
      'adit_refused_connections{cause="connections"} 1',
      'adit_traffic_bytes{direction="inlet"} 5',
      'adit_traffic_bytes{direction="export"} 5',
      'adit_garbage_total 0',
      'adit_unapplied_changes 0',
      'adit_change_log_position 0',
      'adit_change_log_lag_seconds 0',
      'adit_nodes_unreached 0',
    ]
  ) {
    expect(text.split('\n')).toContain(line);
  }
  expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
  expect((await fetch(url)).status).toBe(401);

  await call(server, '/user/add/', { username: 'alice', password: 'secret-1' });
  const login = await fetch(`http://127.0.0.1:${server.httpPort}/login/verify`, {
    method: 'POST',
    body: new URLSearchParams({ username: 'alice', password: 'secret-1' }),
  });
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  expect((await fetch(url, { headers: { cookie } })).status).toBe(403);

  const shown = `{ viewer { name } server {
    version startedAt publicAddress allowLocalProxy allowedPorts acme acmeDirectory bridgePort bridgeTlsPort bridgeTlsFingerprint hostHttpPort hostHttpsPort
    retention { auditDays trafficMinuteDays trafficHourDays trafficDayDays }
  } }`;
  const { server: { startedAt, ...others }, viewer } = shownSchema.parse(await graphql(server, shown));
  expect(Date.parse(startedAt)).toBeGreaterThan(began);
  expect([viewer.name, others]).toEqual(['root', {
    ...{ version, publicAddress: 'panel.test', allowLocalProxy: true, allowedPorts: ['1000-65535'], acme: true, acmeDirectory: 'https://acme.test/directory' },
    ...{ bridgePort: server.bridgePort, bridgeTlsPort: server.tlsPort, bridgeTlsFingerprint: server.fingerprint },
    ...{ hostHttpPort: server.hostsPort, hostHttpsPort: server.secureHostsPort },
    retention: { auditDays: 11, trafficMinuteDays: 12, trafficHourDays: 13, trafficDayDays: 14 },
  }]);
  expect(server.child.output).toMatch(/ WARN +server: auth_crypt_key is not 16 bytes long/);
  await fetch(`http://127.0.0.1:${server.hostsPort}/`);
  await fetch(`http://127.0.0.1:${server.httpPort}/login/verify`, { method: 'POST', body: new URLSearchParams({ username: 'alice', password: 'wrong' }) });
  // Each module writes what docs/operation.md says.
  for (
    const entry of [
      'server: socket backend',
      'store: database migrated',
      'engine: a request was refused',
      'bridge: agent connected',
      'visitors: accepted',
      'schema: a login failed',
    ]
  ) {
    expect(server.child.output).toContain(` ${entry}`);
  }
  expect(agent.output).toContain(' agent: connected to');

  const crowd = Array.from({ length: 520 }, () => net.connect(server.httpPort, '127.0.0.1').on('error', () => {}));
  await eventually(() => crowd.filter(({ destroyed }) => destroyed).length, (count) => count >= 8);
  for (const socket of crowd) socket.destroy();
  const events = await eventuallyAsync(
    () => subscribe({ url: `http://127.0.0.1:${server.httpPort}` }, 'subscription { clientChanged { id } }', signature),
    ({ status }) => status === 200,
  );
  visitor.destroy();
  server.child.kill('SIGTERM');
  expect(await events.next()).toBeUndefined();
  expect(await server.child.exited).toEqual({ code: 0, signal: null });
});
