import type { TrafficSample as SampleRow } from '../../store/generated/sqlite/client.ts';
import { bucketAt, trafficSteps } from '../../store/hot/traffic.ts';
import { builder } from '../builder.ts';
import { invalidInput } from '../errors.ts';
import { TrafficResource, TrafficStep } from './enums.ts';
import { checkedId } from './rules.ts';

/** Maximum number of buckets in a response. */
const mostSamples = 2000;

const TrafficSample = builder.objectRef<SampleRow>('TrafficSample').implement({
  description: 'One sample of a traffic series.',
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: "The start of the sample's interval.", resolve: ({ at }) => new Date(at * 60_000) }),
    inletBytes: t.expose('inletBytes', { type: 'Bytes', description: 'Bytes from visitors.' }),
    exportBytes: t.expose('exportBytes', { type: 'Bytes', description: 'Bytes to visitors.' }),
  }),
});

builder.queryField('traffic', (t) =>
  t.field({
    type: [TrafficSample],
    extensions: { items: mostSamples },
    authScopes: { clientLogin: true },
    description:
      'The traffic of a record over time, oldest sample first. Intervals without traffic have no sample. The newest sample can be up to 5 seconds behind.',
    args: {
      resource: t.arg({ type: TrafficResource, required: true, description: 'The kind of record.' }),
      id: t.arg.id({ description: 'Its id. The server has none.' }),
      step: t.arg({ type: TrafficStep, required: true, description: 'The interval between samples.' }),
      from: t.arg({ type: 'DateTime', required: true, description: 'The start of the series: the first sample is the one that contains this time.' }),
      to: t.arg({ type: 'DateTime', description: 'The end of the series: the last sample is the one that contains this time; absent = now.' }),
    },
    resolve: async (_root, { resource, id: given, step, from, to }, context) => {
      const id = await checkedId(context, resource, given);
      const first = bucketAt(step, from.getTime());
      const last = bucketAt(step, (to ?? new Date()).getTime());
      if ((last - first) / trafficSteps[step] >= mostSamples) {
        throw invalidInput('from', `the series would have more than ${mostSamples} buckets`, { most: mostSamples });
      }
      return context.store.db.trafficSample.findMany({ where: { resource, resourceId: id, step, at: { gte: first, lte: last } }, orderBy: { at: 'asc' } });
    },
  }));
