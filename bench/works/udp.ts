import { portOf } from '../sides/side.ts';
import { loadUdp } from '../udp-load.ts';
import { cpuMeter } from '../usage.ts';
import type { Work } from './work.ts';

/** Datagrams of 64 bytes there and back, 32 visitors. */
export const udp = visitors(64);

/** Larger ones. */
export const udpLarger = visitors(512);

/** One visitor who sends the next datagram when the answer to the last one is there. */
export const udpRoundTrip: Work = {
  name: 'udp-trip',
  title: 'UDP, 64 bytes there and back, one visitor, one datagram at a time',
  programs: [],
  fresh: false,
  way: 'udp',
  metrics: [{ name: 'us/round trip', digits: 1, more: false, goals: { direct: 2 } }, { name: 'lost in 1000', digits: 2, more: false, alone: true }],
  async measure(side, seconds) {
    const { answers, perSecond, lost } = await loadUdp({ port: portOf(side, 'udp'), visitors: 1, window: 1, size: 64, seconds });
    return { figures: { 'us/round trip': 1e6 / perSecond, 'lost in 1000': lost * 1000 / (answers + lost) }, errors: '' };
  },
};

function visitors(size: number): Work {
  return {
    name: `udp-${size}`,
    title: `UDP, ${size} bytes there and back, 32 visitors`,
    programs: [],
    fresh: false,
    way: 'udp',
    metrics: [
      { name: 'answers/s', digits: 0, more: true, goals: { nginx: 0.5 } },
      { name: 'lost in 1000', digits: 2, more: false, alone: true },
      { name: 'CPU us/answer', digits: 1, more: false, goals: { nginx: 3.5 }, former: 0.75 },
    ],
    async measure(side, seconds) {
      const used = cpuMeter(side.pids);
      const { answers, perSecond, lost } = await loadUdp({ port: portOf(side, 'udp'), visitors: 32, window: 8, size, seconds });
      return { figures: { 'answers/s': perSecond, 'lost in 1000': lost * 1000 / (answers + lost), 'CPU us/answer': used(answers) * 1e6 }, errors: '' };
    },
  };
}
