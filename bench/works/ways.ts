import { type Opening, requests } from '../requests.ts';
import { portOf, type Way } from '../sides/side.ts';
import { cpuMeter } from '../usage.ts';
import { wrk, type WrkResult } from '../wrk.ts';
import type { Targets } from '../targets.ts';
import type { Work } from './work.ts';

/** How much a load got through. */
type Throughput = Pick<WrkResult, 'perSecond' | 'requests' | 'errors'>;

/** A path to the target, compared with that of a tcp tunnel. */
interface Compared {
  readonly name: string;
  readonly title: string;
  readonly way: Way;
  /** Of the tcp tunnel's requests/s, at least. */
  readonly least: number;
  /** CPU compared with the first of the other checkouts, at most. */
  readonly former: number;
  /** Makes requests at a port. @param way the port's: a tcp tunnel's or this one's */
  load(port: number, way: Way, seconds: number, targets: Targets): Promise<Throughput>;
}

const byWrk = (port: number, _: Way, seconds: number): Promise<Throughput> => wrk({ url: `http://127.0.0.1:${port}/`, connections: 32, seconds });
const opened = (opening: Opening) => (port: number, way: Way, seconds: number, { http }: Targets): Promise<Throughput> =>
  requests({ port, target: http, connections: 32, seconds, opening: way === 'http' ? 'direct' : opening });

/** Requests over 32 connections, by each way that is not a tcp tunnel's: as much as it, less what the way costs. */
export const besideTcp: readonly Work[] = [
  compared({ name: 'tls', title: 'TLS between server and agent', way: 'tls', least: 0.7, former: 1, load: byWrk }),
  compared({ name: 'secret', title: 'a secret tunnel', way: 'secret', least: 0.5, former: 0.8, load: byWrk }),
  compared({ name: 'socks5', title: 'SOCKS5', way: 'socks5', least: 0.5, former: 0.8, load: opened('socks5') }),
  compared({ name: 'http-proxy', title: 'a forward proxy, by CONNECT', way: 'httpProxy', least: 0.5, former: 0.8, load: opened('connect') }),
  compared({
    name: 'http-proxy-get',
    title: 'a forward proxy, by GET',
    way: 'httpProxy',
    least: 0.5,
    former: 0.8,
    load: (port, way, seconds, { http }) =>
      wrk({ url: `http://127.0.0.1:${port}/`, connections: 32, seconds, path: way === 'http' ? '/' : `http://127.0.0.1:${http}/` }),
  }),
];

/** The tcp tunnel of the same side is measured just before, so that the machine is the same for both. */
function compared({ name, title, way, least, former, load }: Compared): Work {
  return {
    name,
    title: `HTTP, 32 connections kept alive, through ${title}, compared with a tcp tunnel of the same side`,
    programs: ['wrk'],
    fresh: false,
    way,
    metrics: [
      { name: 'requests/s', digits: 0, more: true },
      { name: 'of tcp', digits: 2, more: true, alone: true, limit: least },
      { name: 'CPU us/request', digits: 1, more: false, former },
    ],
    async measure(side, seconds, targets) {
      const tcp = await load(portOf(side, 'http'), 'http', seconds, targets);
      const used = cpuMeter(side.pids);
      const own = await load(portOf(side, way), way, seconds, targets);
      return {
        figures: { 'requests/s': own.perSecond, 'of tcp': own.perSecond / tcp.perSecond, 'CPU us/request': used(own.requests) * 1e6 },
        errors: [tcp.errors, own.errors].filter(Boolean).join('; '),
      };
    },
  };
}
