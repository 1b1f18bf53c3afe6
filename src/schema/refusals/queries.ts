import { refusalCauses, type Refusals } from '../../engine/face.ts';
import type { RefusalSample as SampleRow } from '../../store/generated/sqlite/client.ts';
import { bucketAt, trafficSteps } from '../../store/hot/traffic.ts';
import { builder } from '../builder.ts';
import { Refusal, refusalsOf } from '../diagnosis/refusal-type.ts';
import { invalidInput } from '../errors.ts';
import { TrafficStep } from '../traffic/enums.ts';
import { checkTrafficAccess } from '../traffic/rules.ts';
import { idOf } from '../values/ids.ts';

/** Maximum number of buckets in a response: a month by hours. */
const mostSamples = 750;

interface Sample {
  /** In minutes since 1970. */
  readonly at: number;
  readonly refusals: Refusals;
}

const RefusalSample = builder.objectRef<Sample>('RefusalSample').implement({
  description: "One sample of the visitors' connections that a client refused over time.",
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: "The start of the sample's interval.", resolve: ({ at }) => new Date(at * 60_000) }),
    refusals: t.field({
      type: [Refusal],
      extensions: { items: 2 },
      description: 'The connections that were refused in it, by cause.',
      resolve: ({ refusals }) => refusalsOf(refusals),
    }),
  }),
});

builder.queryField('refusals', (t) =>
  t.field({
    type: [RefusalSample],
    extensions: { items: mostSamples },
    authScopes: { clientLogin: true },
    description:
      "The visitors' connections that a client refused over time, on all servers, oldest sample first. Intervals without refusals have no sample. The newest sample can be up to 5 seconds behind.",
    args: {
      clientId: t.arg.id({ required: true, description: "The client's id." }),
      step: t.arg({ type: TrafficStep, required: true, description: 'The interval between samples.' }),
      from: t.arg({ type: 'DateTime', required: true, description: 'The start of the series: the first sample is the one that contains this time.' }),
      to: t.arg({ type: 'DateTime', description: 'The end of the series: the last sample is the one that contains this time; absent = now.' }),
    },
    resolve: async (_root, { clientId: given, step, from, to }, context) => {
      const clientId = await checkTrafficAccess(context, 'client', idOf('clientId', given));
      const first = bucketAt(step, from.getTime());
      const last = bucketAt(step, (to ?? new Date()).getTime());
      if ((last - first) / trafficSteps[step] >= mostSamples) {
        throw invalidInput('from', `the series would have more than ${mostSamples} buckets`, { most: mostSamples });
      }
      return samplesOf(await context.store.db.refusalSample.findMany({ where: { clientId, step, at: { gte: first, lte: last } }, orderBy: { at: 'asc' } }));
    },
  }));

/** @param rows in the order of their times; causes of a later version are left out */
function samplesOf(rows: readonly SampleRow[]): Sample[] {
  const counts = new Map<number, Record<string, number>>();
  for (const { at, cause, count } of rows) {
    const known = refusalCauses.find((name) => name === cause);
    if (known !== undefined) counts.set(at, { ...counts.get(at), [known]: Number(count) });
  }
  return [...counts].map(([at, refusals]) => ({ at, refusals }));
}
