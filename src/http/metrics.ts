import { readdir } from 'node:fs/promises';
import process from 'node:process';
import { type RequestHandler, Router } from 'express';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { HttpCallers } from './callers.ts';
import { authenticate } from './graphql-authentication.ts';
import { isNavigation } from './navigation.ts';

/** The engine, as the source of metrics. */
export interface MeteredEngine {
  numbers(): Promise<{
    /** Current numbers, and totals since the start. Only names listed in this file are exported. */
    readonly counts: Readonly<Record<keyof typeof gauges | keyof typeof counters, number>>;
    /** The traffic of all clients since they were created. */
    readonly traffic: { readonly inletBytes: number; readonly exportBytes: number };
    /** Refused connections since the start, by cause. */
    readonly refusals: Readonly<Record<string, number>>;
  }>;
}

const gauges = {
  sessions: 'Agents that are connected.',
  visits: "Visitors' programs that are connected.",
  handshakes: 'Unfinished handshakes at the bridge.',
  visitors: 'Open connections of visitors to tunnels and hosts.',
  hostConnections: 'Connections to the ports of the hosts, idle ones included.',
  targetsUnhealthy: 'Targets of tunnels and hosts that fail their health checks.',
  withoutTarget: 'Tunnels and hosts whose targets all fail their health checks: visitors are refused.',
  certificatesExpired: 'Certificates of hosts that have expired.',
  certificatesExpiring: 'Certificates of hosts with fewer than 15 days left.',
  unappliedChanges: 'Records whose stored changes the engine failed to apply. They are tried again.',
  changeLogPosition: 'The number of the last commit in the log of changes that this server has applied (PostgreSQL).',
  changeLogLagSeconds: 'The time since this server last read the log of changes to its end, 0 = within the last two seconds.',
  draining: '1 = this server sends agents and visitors to others, because an administrator has asked for it or because it is stopping.',
  nodesUnreached: 'Other servers of the installation that run, but that this one cannot reach.',
  load: 'The share of the time in which the event loop was busy, from 0 to 1, over the last three seconds.',
  certificatesRefused: 'Certificates of hosts that cannot be used. The previous certificate stays in use, if there was one.',
} as const;

const counters = {
  garbage: 'Connections to the bridge that did not use its protocol.',
  refused: 'Agents, visitors and data connections that were refused.',
  handshakesRefused: 'Connections to the bridge that were closed unread because there were too many unfinished handshakes.',
  dataConnections: 'Data connections that were accepted.',
} as const;

/** `/metrics` in Prometheus' text format, for administrators: by signature, token, session, or HTTP Basic. */
export function metricsRoute(engine: MeteredEngine, callers: HttpCallers, program: Readonly<Record<'version' | 'node', string>>): RequestHandler {
  const { registry, update } = metricsOf(program);
  return Router().get('/metrics', async (request, response) => {
    const who = await authenticate(callers, request);
    if (who.kind !== 'known' || who.caller.kind !== 'admin' || who.caller.wall === true) {
      const status = who.kind === 'known' ? 403 : who.kind === 'tooManyFailures' ? 429 : 401;
      if (status === 401 && isNavigation(request)) response.set('WWW-Authenticate', 'Basic realm="Adit"');
      response.status(status).json({ status: 0, msg: status === 403 ? 'permission denied' : 'authentication required' });
      return;
    }
    update(await engine.numbers());
    response.set('Cache-Control', 'no-store').type(registry.contentType).send(await registry.metrics());
  });
}

/** All metrics, with the numbers that were last passed to `update`. */
function metricsOf(program: Readonly<Record<'version' | 'node', string>>) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // These visit each socket, or list them synchronously: 12,000 connections would hold the event loop for 30 ms.
  for (const name of ['nodejs_active_resources', 'nodejs_active_handles', 'nodejs_active_requests']) {
    for (const metric of [name, `${name}_total`]) registry.removeSingleMetric(metric);
  }
  registry.removeSingleMetric('process_open_fds');
  const registers = [registry];
  if (process.platform === 'linux') {
    registry.registerMetric(
      new Gauge({
        name: 'process_open_fds',
        help: 'Number of open file descriptors.',
        registers: [],
        async collect() {
          this.set((await readdir('/proc/self/fd')).length - 1); // without the one that lists them
        },
      }),
    );
  }
  new Gauge({ name: 'adit_info', help: 'The program that runs.', labelNames: ['version', 'node'], registers }).set(program, 1);
  const shownGauges = entries(gauges).map(([key, help]) => ({ key, metric: new Gauge({ name: nameOf(key), help, registers }) }));
  const shownCounters = entries(counters).map(([key, help]) => ({ key, metric: new Counter({ name: `${nameOf(key)}_total`, help, registers }) }));
  const bytes = new Gauge({
    name: 'adit_traffic_bytes',
    help: 'Bytes from visitors (inlet) and to visitors (export), summed over all existing clients.',
    labelNames: ['direction'],
    registers,
  });
  const refused = new Gauge({
    name: 'adit_refused_connections',
    help: 'Connections of visitors that were refused since the start, summed over all existing clients.',
    labelNames: ['cause'],
    registers,
  });
  const update = ({ counts, traffic, refusals }: Awaited<ReturnType<MeteredEngine['numbers']>>): void => {
    for (const { key, metric } of shownGauges) metric.set(counts[key]);
    for (const { key, metric } of shownCounters) {
      metric.reset();
      metric.inc(counts[key]);
    }
    bytes.set({ direction: 'inlet' }, traffic.inletBytes);
    bytes.set({ direction: 'export' }, traffic.exportBytes);
    for (const [cause, count] of Object.entries(refusals)) refused.set({ cause }, count);
  };
  return { registry, update };
}

function entries<Key extends string>(texts: Readonly<Record<Key, string>>): ReadonlyArray<readonly [Key, string]> {
  // The keys of a constant in this file.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.entries(texts) as Array<[Key, string]>;
}

/** `dataConnections` becomes `adit_data_connections`. */
function nameOf(key: string): string {
  return `adit_${key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
}
