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

function mean(loads: readonly Load[], figure: 'rate' | 'cpu'): number {
  return loads.reduce((sum, load) => sum + load[figure], 0) / loads.length;
}

const requests = (headers: readonly string[]) => async (side: RunningSide, way: Way, seconds: number): Promise<Load> => {
  const used = cpuMeter(side.pids);
  const result = await wrk({ url: `http://127.0.0.1:${portOf(side, way)}/`, connections: 32, seconds, headers });
  return { rate: result.perSecond, cpu: used(result.requests), errors: result.errors };
};

async function bulk(side: RunningSide, way: Way, seconds: number): Promise<Load> {
  const { figures, errors } = await download(side, way, seconds, 1);
  return { rate: figures['Gbit/s'] ?? NaN, cpu: figures['CPU s/GB'] ?? NaN, errors };
}

/** By the kind of links: how the works are named, and what the servers' CPU may be, as a multiple of that on the direct way; undefined = it is shown only. */
const kinds = [
  { prefix: 'node', title: 'over TLS', way: 'otherServer', most: 2, mostOfBulk: undefined },
  { prefix: 'plain-node', title: 'with links in the clear', way: 'otherServerPlain', most: 1.7, mostOfBulk: 1.7 },
] as const;

/** Visitors who come to another server than the agent, compared with those who come to the same one. */
export const throughNodes: readonly Work[] = kinds.flatMap(({ prefix, title, way, most, mostOfBulk }) => [
  compared({ name: prefix, title: `${title}: HTTP, 32 connections kept alive`, way, unit: 'requests/s', most, load: requests([]) }),
  compared({
    name: `${prefix}-connections`,
    title: `${title}: HTTP, a new connection for each request, 32 at a time`,
    way,
    unit: 'connections/s',
    most,
    load: requests(['Connection: close']),
  }),
  compared({ name: `${prefix}-bulk`, title: `${title}: bulk, one stream`, way, unit: 'Gbit/s', most: mostOfBulk, load: bulk }),
]);

/** A load that goes through another server, compared with the same one on the direct way. */
interface Compared {
  readonly name: string;
  readonly title: string;
  /** To the server that the agent is not connected to. */
  readonly way: Way;
  readonly unit: string;
  readonly most: number | undefined;
  readonly load: (side: RunningSide, way: Way, seconds: number) => Promise<Load>;
}

function compared({ name, title, way, unit, most, load }: Compared): Work {
  return {
    name,
    title: `Through another server, ${title}, compared with the direct way`,
    programs: ['wrk'],
    fresh: false,
    way,
    metrics: [
      { name: unit, digits: unit === 'Gbit/s' ? 2 : 0, more: true },
      { name: 'of direct', digits: 2, more: true, alone: true },
      { name: "servers' CPU of direct", digits: 2, more: false, alone: true, ...most !== undefined && { limit: most } },
    ],
    async measure(side, seconds) {
      const direct: Load[] = [];
      const through: Load[] = [];
      // In turn: what other programs leave of the machine changes within seconds.
      for (let second = 0; second < seconds; second++) {
        direct.push(await load(side, 'sameServer', 1));
        through.push(await load(side, way, 1));
      }
      const [directRate, rate, directCpu, cpu] = [mean(direct, 'rate'), mean(through, 'rate'), mean(direct, 'cpu'), mean(through, 'cpu')];
      return {
        figures: { [unit]: rate, 'of direct': rate / directRate, "servers' CPU of direct": cpu / directCpu },
        errors: [...direct, ...through].map(({ errors }) => errors).filter(Boolean).join('; '),
      };
    },
  };
}
