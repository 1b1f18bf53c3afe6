import { BulkReader } from '../bulk-reader.ts';
import { BULK_FILE_BYTES } from '../targets.ts';
import { cpuSeconds } from '../usage.ts';
import type { Work } from './work.ts';

/** Files of 64 MB for each second of the measurement. */
const FILES_PER_SECOND = 6;

/** One connection that carries as much as it can, from the target to the visitor. */
export const bulk: Work = {
  name: 'bulk', title: 'Bulk, one stream', programs: [], fresh: false,
  metrics: [
    { name: 'Gbit/s', digits: 2, more: true, goals: { 'haproxy': 0.7, 'OpenSSH -R': 1.8 } },
    { name: 'CPU s/GB', digits: 2, more: false },
  ],
  async measure({ ports, pids }, seconds) {
    const files = FILES_PER_SECOND * seconds;
    const before = cpuSeconds(pids);
    const start = performance.now();
    await new BulkReader(ports.http, files).complete();
    const took = (performance.now() - start) / 1000;
    const gigabytes = files * BULK_FILE_BYTES / 1e9;
    return { figures: { 'Gbit/s': gigabytes * 8 / took, 'CPU s/GB': (cpuSeconds(pids) - before) / gigabytes }, errors: '' };
  },
};
