import { once } from 'node:events';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import express from 'express';
import type { HttpCallers } from '../../src/http/callers.ts';
import { addressOf, close } from '../../src/http/listening.ts';
import { metricsRoute, type MeteredEngine } from '../../src/http/metrics.ts';
import type { Identified } from '../../src/legacy/callers.ts';
import { basic } from '../support/http.ts';

const servers: http.Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map(close)));

const gauges = {
  sessions: 'adit_sessions',
  visits: 'adit_visits',
  handshakes: 'adit_handshakes',
  visitors: 'adit_visitors',
  hostConnections: 'adit_host_connections',
  targetsUnhealthy: 'adit_targets_unhealthy',
  withoutTarget: 'adit_without_target',
  certificatesExpired: 'adit_certificates_expired',
  certificatesExpiring: 'adit_certificates_expiring',
  unappliedChanges: 'adit_unapplied_changes',
  changeLogPosition: 'adit_change_log_position',
  changeLogLagSeconds: 'adit_change_log_lag_seconds',
  draining: 'adit_draining',
  nodesUnreached: 'adit_nodes_unreached',
  load: 'adit_load',
  certificatesRefused: 'adit_certificates_refused',
};
const counters = {
  garbage: 'adit_garbage_total',
  refused: 'adit_refused_total',
  handshakesRefused: 'adit_handshakes_refused_total',
  dataConnections: 'adit_data_connections_total',
};
const names: Readonly<Record<keyof typeof gauges | keyof typeof counters, string>> = { ...gauges, ...counters };

type Numbers = Awaited<ReturnType<MeteredEngine['numbers']>>;

/** Figures that all differ. @param first the smallest */
function numbersFrom(first: number): Numbers {
  const count = (name: keyof typeof names): number => first + Object.keys(names).indexOf(name);
  const counts: Numbers['counts'] = {
    sessions: count('sessions'),
    visits: count('visits'),
    handshakes: count('handshakes'),
    visitors: count('visitors'),
    hostConnections: count('hostConnections'),
    targetsUnhealthy: count('targetsUnhealthy'),
    withoutTarget: count('withoutTarget'),
    certificatesExpired: count('certificatesExpired'),
    certificatesExpiring: count('certificatesExpiring'),
    unappliedChanges: count('unappliedChanges'),
    changeLogPosition: count('changeLogPosition'),
    changeLogLagSeconds: count('changeLogLagSeconds'),
    draining: count('draining'),
    nodesUnreached: count('nodesUnreached'),
    load: count('load'),
    certificatesRefused: count('certificatesRefused'),
    garbage: count('garbage'),
    refused: count('refused'),
    handshakesRefused: count('handshakesRefused'),
    dataConnections: count('dataConnections'),
  };
  return { counts, traffic: { inletBytes: first + 1000, exportBytes: first + 2000 }, refusals: { rate: first + 3000, connections: first + 4000 } };
}

/** The route, for callers who are who they say. */
async function start(identified: Identified, password: number | boolean = false) {
  let numbers = numbersFrom(100);
  const callers: HttpCallers = {
    identify: () => identified,
    checkAdministrator: () => password,
    logIn: async () => false,
    logOut: async () => undefined,
  };
  const server = express().use(metricsRoute({ numbers: async () => numbers }, callers, { version: '1.2', node: 'one' })).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return {
    /** Not by `fetch`, which says itself what a request is for. */
    read: async (headers: Record<string, string> = {}) => {
      const sent = http.get({ host: '127.0.0.1', port: addressOf(server).port, path: '/metrics', headers, agent: false });
      const [response]: http.IncomingMessage[] = await once(sent, 'response');
      if (!response) throw new Error('no response');
      return { status: response.statusCode, headers: response.headers, body: await text(response) };
    },
    change: (next: Numbers) => {
      numbers = next;
    },
  };
}

test('each figure has its name and its type, and the last value', async () => {
  const { read, change } = await start({ caller: { kind: 'admin' } });
  for (const first of [100, 5000, 200]) {
    change(numbersFrom(first));
    const response = await read();
    expect([response.status, response.headers['cache-control']]).toEqual([200, 'no-store']);
    const lines = response.body.split('\n').filter((line) => line.startsWith('adit_'));
    expect(lines).toEqual([
      'adit_info{version="1.2",node="one"} 1',
      ...Object.values(names).map((name, at) => `${name} ${first + at}`),
      `adit_traffic_bytes{direction="inlet"} ${first + 1000}`,
      `adit_traffic_bytes{direction="export"} ${first + 2000}`,
      `adit_refused_connections{cause="rate"} ${first + 3000}`,
      `adit_refused_connections{cause="connections"} ${first + 4000}`,
    ]);
  }
  const { body } = await read();
  for (const name of Object.values(gauges)) expect(body).toContain(`# TYPE ${name} gauge`);
  for (const name of Object.values(counters)) expect(body).toContain(`# TYPE ${name} counter`);
  // Counting these would hold the event loop.
  expect(body).not.toMatch(/^nodejs_active_/m);
  if (process.platform === 'linux') expect(body).toMatch(/^process_open_fds [1-9]\d*$/m);
});

const browser = { 'sec-fetch-mode': 'navigate' };

test.each<readonly [who: string, identified: Identified, password: number | boolean, headers: Record<string, string>, answer: readonly unknown[]]>([
  ['a user', { caller: { kind: 'user', userId: 1 } }, false, {}, [403, 'permission denied', undefined]],
  ['the token of a wall', { caller: { kind: 'admin', wall: true } }, false, {}, [403, 'permission denied', undefined]],
  ['nobody', { status: 401, msg: 'x' }, false, {}, [401, 'authentication required', undefined]],
  ['a person in a browser', { status: 401, msg: 'x' }, false, browser, [401, 'authentication required', 'Basic realm="Adit"']],
  ['somebody with a wrong password', { status: 401, msg: 'x' }, false, basic(), [401, 'authentication required', undefined]],
  ['somebody who has guessed too often', { status: 401, msg: 'x' }, 5000, { ...basic(), ...browser }, [429, 'authentication required', undefined]],
])('%s gets no figures', async (_who, identified, password, headers, [status, msg, realm]) => {
  const { read } = await start(identified, password);
  const response = await read(headers);
  expect([response.status, JSON.parse(response.body), response.headers['www-authenticate']]).toEqual([status, { status: 0, msg }, realm]);
});

test('the administrator may give name and password', async () => {
  const { read } = await start({ status: 401, msg: 'x' }, true);
  expect((await read(basic())).status).toBe(200);
});
