import { portOf } from '../sides/side.ts';
import { loadUdp } from '../udp-load.ts';
import { cpuSeconds } from '../usage.ts';
import type { Work } from './work.ts';

/** Small datagrams there and back. */
export const udp: Work = {
  name: 'udp', title: 'UDP, 64 bytes there and back, 16 visitors', programs: [], fresh: false, way: 'udp',
  metrics: [
    { name: 'answers/s', digits: 0, more: true, limit: 30_000 },
    { name: 'lost in 1000', digits: 2, more: false },
    { name: 'CPU us/answer', digits: 1, more: false },
  ],
  async measure(side, seconds) {
    const { pids } = side;
    const before = cpuSeconds(pids);
    const { answers, perSecond, lost } = await loadUdp({ port: portOf(side, 'udp'), visitors: 16, window: 16, size: 64, seconds });
    const used = cpuSeconds(pids) - before;
    return { figures: { 'answers/s': perSecond, 'lost in 1000': lost * 1000 / (answers + lost), 'CPU us/answer': used * 1e6 / answers }, errors: '' };
  },
};
