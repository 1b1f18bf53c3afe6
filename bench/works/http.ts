import type { RunningSide } from '../sides/side.ts';
import { cpuSeconds } from '../usage.ts';
import { wrk } from '../wrk.ts';
import type { Sample, Work } from './work.ts';

/** Requests over 32 connections that stay open. */
export const keepAlive: Work = {
  name: 'http', title: 'HTTP, 32 connections kept alive', programs: ['wrk'], fresh: false,
  metrics: [
    { name: 'requests/s', digits: 0, more: true, goals: { 'haproxy': 0.6, 'OpenSSH -R': 1.8 } },
    { name: 'CPU us/request', digits: 1, more: false },
  ],
  measure: (side, seconds) => load(side, seconds, 'requests/s', 'CPU us/request', []),
};

/** A new connection for each request. */
export const newConnections: Work = {
  name: 'connections', title: 'HTTP, a new connection for each request, 32 at a time', programs: ['wrk'], fresh: false,
  metrics: [
    { name: 'connections/s', digits: 0, more: true, goals: { 'haproxy': 0.55, 'OpenSSH -R': 2 } },
    { name: 'CPU us/connection', digits: 1, more: false },
  ],
  measure: (side, seconds) => load(side, seconds, 'connections/s', 'CPU us/connection', ['Connection: close']),
};

async function load(side: RunningSide, seconds: number, rate: string, cpu: string, headers: readonly string[]): Promise<Sample> {
  const before = cpuSeconds(side.pids);
  const { perSecond, requests, errors } = await wrk({ url: `http://127.0.0.1:${side.ports.http}/`, connections: 32, seconds, headers });
  const used = cpuSeconds(side.pids) - before;
  return { figures: { [rate]: perSecond, [cpu]: used * 1e6 / requests }, errors };
}
