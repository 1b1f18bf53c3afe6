import { BulkReader } from '../bulk-reader.ts';
import { portOf, type RunningSide, type Way } from '../sides/side.ts';
import { BULK_FILE_BYTES } from '../targets.ts';
import { cpuMeter } from '../usage.ts';
import type { Sample, Work } from './work.ts';

/** Files of 64 MB for each second of the measurement. */
const FILES_PER_SECOND = 6;

const goals = { rate: { haproxy: 0.95, 'OpenSSH -R': 1.8 }, cpu: { haproxy: 1.6 }, former: 0.85 };

/** One connection that carries as much as it can, from the target to the visitor. */
export const bulk: Work = {
  name: 'bulk',
  title: 'Bulk, one stream',
  programs: [],
  fresh: false,
  way: 'http',
  metrics: [{ name: 'Gbit/s', digits: 2, more: true, goals: goals.rate }, { name: 'CPU s/GB', digits: 2, more: false, goals: goals.cpu, former: goals.former }],
  measure: (side, seconds) => download(side, 'http', seconds, 1),
};

/** Eight of them at once. */
export const bulkEight: Work = { ...bulk, name: 'bulk-8', title: 'Bulk, eight streams', measure: (side, seconds) => download(side, 'http', seconds, 8) };

/** One connection over TLS between server and agent. */
export const tlsBulk: Work = {
  name: 'tls-bulk',
  title: 'Bulk, one stream, TLS between server and agent',
  programs: [],
  fresh: false,
  way: 'tls',
  metrics: [{ name: 'Gbit/s', digits: 2, more: true }, { name: 'CPU s/GB', digits: 2, more: false, limit: 2.5, former: 1 }],
  measure: (side, seconds) => download(side, 'tls', seconds, 1),
};

/** The same from a host: a large file over HTTP. */
export const hostBulk: Work = {
  name: 'host-bulk',
  title: 'A host, a large file',
  programs: [],
  fresh: false,
  way: 'hosts',
  metrics: [{ name: 'Gbit/s', digits: 2, more: true }, { name: 'CPU s/GB', digits: 2, more: false }],
  measure: (side, seconds) => download(side, 'hosts', seconds, 1),
};

/** The files are divided among the streams, so that all finish at about the same time. */
export async function download(side: RunningSide, way: Way, seconds: number, streams: number): Promise<Sample> {
  const files = Math.ceil(FILES_PER_SECOND * seconds / streams);
  const used = cpuMeter(side.pids);
  const start = performance.now();
  await Promise.all(Array.from({ length: streams }, () => new BulkReader(portOf(side, way), files).complete()));
  const took = (performance.now() - start) / 1000;
  const gigabytes = streams * files * BULK_FILE_BYTES / 1e9;
  return { figures: { 'Gbit/s': gigabytes * 8 / took, 'CPU s/GB': used(gigabytes) }, errors: '' };
}
