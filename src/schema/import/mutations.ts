import { builder } from '../builder.ts';
import type { ImportReport } from './report.ts';
import { importWork } from './run.ts';

const importId = { required: true, description: 'A name of the import that the caller chooses. Another name begins another import.' } as const;
const option = (description: string) => ({ defaultValue: false, description }) as const;

builder.mutationFields((t) => ({
  stageImport: t.int({
    authScopes: { administrator: true },
    description:
      'Sends a part of the records of another server, for `runImport`. `adit import nps` calls it. Returns the number of records so far. For administrators.',
    args: {
      id: t.arg.id(importId),
      part: t.arg.string({ required: true, description: 'Records as lines of JSON, as `adit import nps` makes them. A line may continue in the next part.' }),
    },
    resolve: (_root, { id, part }, context) => context.imports.add(id, part),
  }),
  runImport: t.field({
    type: 'JSON',
    authScopes: { administrator: true },
    description: 'Imports the records that were sent with `stageImport`: all of them or none. Returns a report. For administrators.',
    args: {
      id: t.arg.id(importId),
      dryRun: t.arg.boolean(option('Only report what would be done.')),
      merge: t.arg.boolean(option('Add the records to those that the server already has.')),
      update: t.arg.boolean(option('Apply what has changed since an earlier import.')),
      skipBroken: t.arg.boolean(option('Leave out records with problems, instead of refusing all.')),
    },
    resolve: (_root, { id, dryRun, merge, update, skipBroken }, context): Promise<ImportReport> => {
      const options = { dryRun: dryRun ?? false, merge: merge ?? false, update: update ?? false, skipBroken: skipBroken ?? false };
      const parts = { dialect: context.store.dialect, settings: context.settings, now: () => context.now() };
      const work = importWork(context.imports.take(id), { problems: [], leftOut: [], notes: [] }, options, parts);
      return context.write(work, { long: true });
    },
  }),
}));
