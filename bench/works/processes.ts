import os from 'node:os';
import { TUNNELS } from '../sides/processes.ts';
import { portOf, type RunningSide } from '../sides/side.ts';
import { wrk } from '../wrk.ts';
import type { Work } from './work.ts';

/** How many cores the server's processes, the agents, the visitors and the targets keep busy: on fewer, a second process has no core of its own. */
const CORES = 8;

const cores = os.availableParallelism();

/** Requests over 32 kept connections to 8 tunnels, of a server with two processes compared with one. */
export const twoProcesses: Work = {
  name: 'processes',
  title: `Two processes compared with one, HTTP, ${TUNNELS} tunnels, 32 connections kept alive${
    cores < CORES ? ` (${cores} cores: too few to say anything)` : ''
  }`,
  programs: ['wrk'],
  fresh: false,
  way: 'twoProcesses',
  metrics: [{ name: 'requests/s', digits: 0, more: true }, { name: 'of one process', digits: 2, more: true, alone: true }],
  async measure(side, seconds) {
    const one = await requests(side, 'oneProcess', seconds);
    const two = await requests(side, 'twoProcesses', seconds);
    return { figures: { 'requests/s': two.rate, 'of one process': two.rate / one.rate }, errors: [one.errors, two.errors].filter(Boolean).join('; ') };
  },
};

async function requests(side: RunningSide, way: 'oneProcess' | 'twoProcesses', seconds: number): Promise<{ readonly rate: number; readonly errors: string }> {
  const first = portOf(side, way);
  const results = await Promise.all(
    Array.from({ length: TUNNELS }, (_, number) => wrk({ url: `http://127.0.0.1:${first + number}/`, connections: 32 / TUNNELS, seconds, headers: [] })),
  );
  return { rate: results.reduce((sum, { perSecond }) => sum + perSecond, 0), errors: results.map(({ errors }) => errors).filter(Boolean).join('; ') };
}
