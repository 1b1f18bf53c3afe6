import { expect, test } from '@jest/globals';
import { call, signedNow } from '../support/processes.ts';
import { serve } from '../support/served.ts';
import { roundTrip, startEcho, visit, visitUntilClosed } from '../support/target.ts';

test('only administrators can read the metrics, in the Prometheus format', async () => {
  const { server, tunnel } = await serve((await startEcho()).address, { client: { max_conn: 1 } });
  const visitor = await visit(tunnel.port);
  await roundTrip(visitor, 'hello');
  await visitUntilClosed(tunnel.port);
  const url = `http://127.0.0.1:${server.httpPort}/metrics`;
  const { auth_key: key, timestamp } = signedNow();
  const answer = await fetch(url, { headers: { 'x-adit-auth-key': key, 'x-adit-timestamp': String(timestamp) } });
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
});
