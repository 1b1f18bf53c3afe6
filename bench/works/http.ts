import { portOf, type RunningSide, type Way } from '../sides/side.ts';
import { cpuMeter } from '../usage.ts';
import { h2load } from '../h2load.ts';
import { wrk } from '../wrk.ts';
import type { Metric, Sample, Work } from './work.ts';

/** Requests over 32 connections that stay open. */
export const keepAlive: Work = {
  name: 'http',
  title: 'HTTP, 32 connections kept alive',
  programs: ['wrk'],
  fresh: false,
  way: 'http',
  metrics: metrics('request', { haproxy: 0.65, 'OpenSSH -R': 1.8 }, { haproxy: 1.8 }, 0.75),
  measure: (side, seconds) => load(side, seconds, 'http', 'request'),
};

/** A new connection for each request. */
export const newConnections: Work = {
  name: 'connections',
  title: 'HTTP, a new connection for each request, 32 at a time',
  programs: ['wrk'],
  fresh: false,
  way: 'http',
  metrics: metrics('connection', { haproxy: 0.55, 'OpenSSH -R': 2 }, { haproxy: 2.1 }, 0.5),
  measure: (side, seconds) => load(side, seconds, 'http', 'connection'),
};

/** Requests to a host over 32 connections that stay open. */
export const hostKeepAlive: Work = {
  name: 'host',
  title: 'A host, 32 connections kept alive',
  programs: ['wrk'],
  fresh: false,
  way: 'hosts',
  metrics: metrics('request', { nginx: 0.6 }, { nginx: 1.9 }, 0.65),
  measure: (side, seconds) => load(side, seconds, 'hosts', 'request'),
};

/** A new connection to a host for each request. */
export const hostConnections: Work = {
  name: 'host-connections',
  title: 'A host, a new connection for each request, 32 at a time',
  programs: ['wrk'],
  fresh: false,
  way: 'hosts',
  metrics: metrics('connection', { frp: 1.3 }, { nginx: 6 }, 0.6),
  measure: (side, seconds) => load(side, seconds, 'hosts', 'connection'),
};

/** Requests to a host over 32 TLS connections that stay open. */
export const secureHostKeepAlive: Work = {
  name: 'host-https',
  title: 'A host over HTTPS, 32 connections kept alive',
  programs: ['wrk'],
  fresh: false,
  way: 'secureHosts',
  metrics: metrics('request', { nginx: 0.5 }, { nginx: 2.5 }, 0.75),
  measure: (side, seconds) => load(side, seconds, 'secureHosts', 'request'),
};

/** Requests to a host over HTTP/2: 8 connections, 4 requests at a time on each. */
export const http2HostRequests: Work = {
  name: 'host-h2',
  title: 'A host over HTTP/2, 8 connections with 4 requests at a time',
  programs: ['h2load'],
  fresh: false,
  way: 'secureHosts',
  metrics: metrics('request', {}, { nginx: 4 }, 0.6),
  measure: async (side, seconds) => {
    const used = cpuMeter(side.pids);
    const { perSecond, requests, errors } = await h2load({ url: `https://localhost:${portOf(side, 'secureHosts')}/`, connections: 8, streams: 4, seconds });
    return { figures: { 'requests/s': perSecond, 'CPU us/request': used(requests) * 1e6 }, errors };
  },
};

function metrics(unit: Unit, rate: Metric['goals'], cpu: Metric['goals'], former: number): Metric[] {
  return [{ name: `${unit}s/s`, digits: 0, more: true, goals: rate }, { name: `CPU us/${unit}`, digits: 1, more: false, goals: cpu, former }];
}

/** What is counted: requests over connections that are kept, or each over a connection of its own. */
type Unit = 'request' | 'connection';

async function load(side: RunningSide, seconds: number, way: Way, unit: Unit): Promise<Sample> {
  const used = cpuMeter(side.pids);
  // The name is that of the host, in TLS too.
  const url = `${way === 'secureHosts' ? 'https' : 'http'}://localhost:${portOf(side, way)}/`;
  const { perSecond, requests, errors } = await wrk({ url, connections: 32, seconds, headers: unit === 'connection' ? ['Connection: close'] : [] });
  return { figures: { [`${unit}s/s`]: perSecond, [`CPU us/${unit}`]: used(requests) * 1e6 }, errors };
}
