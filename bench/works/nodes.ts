import { portOf, type RunningSide, type Way } from '../sides/side.ts';
import { cpuMeter } from '../usage.ts';
import { wrk } from '../wrk.ts';
import { download } from './bulk.ts';
import type { Work } from './work.ts';

/** What a load got through, and the servers' CPU for each unit of it. */
interface Load {
  readonly rate: number;
  readonly cpu: number;
  readonly errors: string;
}

/** Visitors who come to another server than the agent, compared with those who come to the same one. */
export const throughNodes: readonly Work[] = [
  compared('node', 'HTTP, 32 connections kept alive', 'requests/s', 2, (side, way, seconds) => requests(side, way, seconds, [])),
  compared(
    'node-connections',
    'HTTP, a new connection for each request, 32 at a time',
    'connections/s',
    2,
    (side, way, seconds) => requests(side, way, seconds, ['Connection: close']),
  ),
  compared('node-bulk', 'bulk, one stream', 'Gbit/s', undefined, async (side, way, seconds) => {
    const { figures, errors } = await download(side, way, seconds, 1);
    return { rate: figures['Gbit/s'] ?? NaN, cpu: figures['CPU s/GB'] ?? NaN, errors };
  }),
];

/** @param most the servers' CPU, as a multiple of that on the direct way; undefined = shown only */
function compared(
  name: string,
  title: string,
  unit: string,
  most: number | undefined,
  load: (side: RunningSide, way: Way, seconds: number) => Promise<Load>,
): Work {
  return {
    name,
    title: `Through another server, over TLS: ${title}, compared with the direct way`,
    programs: ['wrk'],
    fresh: false,
    way: 'otherServer',
    metrics: [
      { name: unit, digits: unit === 'Gbit/s' ? 2 : 0, more: true },
      { name: 'of direct', digits: 2, more: true, alone: true },
      { name: "servers' CPU of direct", digits: 2, more: false, alone: true, ...most !== undefined && { limit: most } },
    ],
    async measure(side, seconds) {
      const direct = await load(side, 'sameServer', seconds);
      const through = await load(side, 'otherServer', seconds);
      return {
        figures: { [unit]: through.rate, 'of direct': through.rate / direct.rate, "servers' CPU of direct": through.cpu / direct.cpu },
        errors: [direct.errors, through.errors].filter(Boolean).join('; '),
      };
    },
  };
}

async function requests(side: RunningSide, way: Way, seconds: number, headers: readonly string[]): Promise<Load> {
  const used = cpuMeter(side.pids);
  const result = await wrk({ url: `http://127.0.0.1:${portOf(side, way)}/`, connections: 32, seconds, headers });
  return { rate: result.perSecond, cpu: used(result.requests), errors: result.errors };
}
