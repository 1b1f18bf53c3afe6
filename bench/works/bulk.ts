import { BulkReader } from '../bulk-reader.ts';
import { portOf, type RunningSide, type Way } from '../sides/side.ts';
import { BULK_FILE_BYTES } from '../targets.ts';
import { cpuSeconds } from '../usage.ts';
import type { Sample, Work } from './work.ts';

/** Files of 64 MB for each second of the measurement. */
const FILES_PER_SECOND = 6;

/** One connection that carries as much as it can, from the target to the visitor. */
export const bulk: Work = {
  name: 'bulk', title: 'Bulk, one stream', programs: [], fresh: false, way: 'http',
  metrics: [
    { name: 'Gbit/s', digits: 2, more: true, goals: { 'haproxy': 0.7, 'OpenSSH -R': 1.8 } },
    { name: 'CPU s/GB', digits: 2, more: false },
  ],
  measure: (side, seconds) => download(side, 'http', seconds),
};

/** The same from a host: a large file over HTTP. */
export const hostBulk: Work = {
  name: 'host-bulk', title: 'A host, a large file', programs: [], fresh: false, way: 'hosts',
  metrics: [{ name: 'Gbit/s', digits: 2, more: true }, { name: 'CPU s/GB', digits: 2, more: false }],
  measure: (side, seconds) => download(side, 'hosts', seconds),
};

async function download(side: RunningSide, way: Way, seconds: number): Promise<Sample> {
  const files = FILES_PER_SECOND * seconds;
  const before = cpuSeconds(side.pids);
  const start = performance.now();
  await new BulkReader(portOf(side, way), files).complete();
  const took = (performance.now() - start) / 1000;
  const gigabytes = files * BULK_FILE_BYTES / 1e9;
  return { figures: { 'Gbit/s': gigabytes * 8 / took, 'CPU s/GB': (cpuSeconds(side.pids) - before) / gigabytes }, errors: '' };
}
