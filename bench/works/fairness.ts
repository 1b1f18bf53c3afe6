import { BulkReader } from '../bulk-reader.ts';
import { portOf } from '../sides/side.ts';
import { wrk } from '../wrk.ts';
import type { Work } from './work.ts';

/** More files than any side can send while it is measured. */
const ENDLESS = 10_000;

/** Small requests while one stream carries as much as it can. */
export const fairness: Work = {
  name: 'fairness',
  title: 'HTTP, 8 connections kept alive, while one bulk stream runs',
  programs: ['wrk'],
  fresh: false,
  way: 'http',
  metrics: [
    { name: 'requests/s', digits: 0, more: true, goals: { frp: 2, 'OpenSSH -R': 1.5 }, former: 3 },
    { name: 'p99 ms', digits: 2, more: false, goals: { frp: 1, 'OpenSSH -R': 0.5 } },
    { name: 'bulk Gbit/s meanwhile', digits: 2, more: true },
  ],
  async measure(side, seconds) {
    const port = portOf(side, 'http');
    const reader = new BulkReader(port, ENDLESS);
    try {
      await reader.flowing();
      const before = reader.bytes;
      const start = performance.now();
      const { perSecond, p99, errors } = await wrk({ url: `http://127.0.0.1:${port}/`, connections: 8, seconds });
      const gigabits = (reader.bytes - before) * 8 / 1e9;
      return { figures: { 'requests/s': perSecond, 'p99 ms': p99, 'bulk Gbit/s meanwhile': gigabits * 1000 / (performance.now() - start) }, errors };
    } finally {
      reader.stop();
    }
  },
};
