import { portOf, type RunningSide, type Way } from '../sides/side.ts';
import { cpuSeconds } from '../usage.ts';
import { h2load } from '../h2load.ts';
import { wrk } from '../wrk.ts';
import type { Sample, Work } from './work.ts';

/** Requests over 32 connections that stay open. */
export const keepAlive: Work = {
  name: 'http', title: 'HTTP, 32 connections kept alive', programs: ['wrk'], fresh: false, way: 'http',
  metrics: [
    { name: 'requests/s', digits: 0, more: true, goals: { 'haproxy': 0.6, 'OpenSSH -R': 1.8 } },
    { name: 'CPU us/request', digits: 1, more: false },
  ],
  measure: (side, seconds) => load(side, seconds, { way: 'http', unit: 'request' }),
};

/** A new connection for each request. */
export const newConnections: Work = {
  name: 'connections', title: 'HTTP, a new connection for each request, 32 at a time', programs: ['wrk'], fresh: false, way: 'http',
  metrics: [
    { name: 'connections/s', digits: 0, more: true, goals: { 'haproxy': 0.55, 'OpenSSH -R': 2 } },
    { name: 'CPU us/connection', digits: 1, more: false },
  ],
  measure: (side, seconds) => load(side, seconds, { way: 'http', unit: 'connection' }),
};

/** Requests to a host over 32 connections that stay open. */
export const hostKeepAlive: Work = {
  name: 'host', title: 'A host, 32 connections kept alive', programs: ['wrk'], fresh: false, way: 'hosts',
  metrics: [{ name: 'requests/s', digits: 0, more: true, goals: { nginx: 0.7 } }, { name: 'CPU us/request', digits: 1, more: false }],
  measure: (side, seconds) => load(side, seconds, { way: 'hosts', unit: 'request' }),
};

/** A new connection to a host for each request. */
export const hostConnections: Work = {
  name: 'host-connections', title: 'A host, a new connection for each request, 32 at a time', programs: ['wrk'], fresh: false, way: 'hosts',
  metrics: [{ name: 'connections/s', digits: 0, more: true }, { name: 'CPU us/connection', digits: 1, more: false }],
  measure: (side, seconds) => load(side, seconds, { way: 'hosts', unit: 'connection' }),
};

/** Requests to a host over 32 TLS connections that stay open. */
export const secureHostKeepAlive: Work = {
  name: 'host-https', title: 'A host over HTTPS, 32 connections kept alive', programs: ['wrk'], fresh: false, way: 'secureHosts',
  metrics: [{ name: 'requests/s', digits: 0, more: true }, { name: 'CPU us/request', digits: 1, more: false }],
  measure: (side, seconds) => load(side, seconds, { way: 'secureHosts', unit: 'request' }),
};

/** Requests to a host over HTTP/2: 8 connections, 4 requests at a time on each. */
export const http2HostRequests: Work = {
  name: 'host-h2', title: 'A host over HTTP/2, 8 connections with 4 requests at a time', programs: ['h2load'], fresh: false, way: 'secureHosts',
  metrics: [{ name: 'requests/s', digits: 0, more: true }, { name: 'CPU us/request', digits: 1, more: false }],
  measure: async (side, seconds) => {
    const before = cpuSeconds(side.pids);
    const { perSecond, requests, errors } = await h2load({ url: `https://localhost:${portOf(side, 'secureHosts')}/`, connections: 8, streams: 4, seconds });
    return { figures: { 'requests/s': perSecond, 'CPU us/request': (cpuSeconds(side.pids) - before) * 1e6 / requests }, errors };
  },
};

/** What is asked for how: each request over a connection that is kept, or over one of its own. */
interface Load {
  readonly way: Way;
  readonly unit: 'request' | 'connection';
}

async function load(side: RunningSide, seconds: number, { way, unit }: Load): Promise<Sample> {
  const before = cpuSeconds(side.pids);
  // The name is that of the host, in TLS too.
  const url = `${way === 'secureHosts' ? 'https' : 'http'}://localhost:${portOf(side, way)}/`;
  const { perSecond, requests, errors } = await wrk({ url, connections: 32, seconds, headers: unit === 'connection' ? ['Connection: close'] : [] });
  const used = cpuSeconds(side.pids) - before;
  return { figures: { [`${unit}s/s`]: perSecond, [`CPU us/${unit}`]: used * 1e6 / requests }, errors };
}
