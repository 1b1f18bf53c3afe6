import type { Context } from '../context.ts';

/** The argument of mutations that create or update a record. */
export const dryRun = {
  defaultValue: false,
  description:
    'Runs all checks, but changes nothing. Returns what the record would be; a new one has the id 0, and no name, port or generated value is reserved.',
} as const;

/** Creates a record, or checks whether it could be. @param isDry `dryRun` */
export async function creating<Row extends { readonly id: number }>(
  context: Context,
  isDry: boolean | null | undefined,
  create: (context: Context) => Promise<Row>,
): Promise<Row> {
  if (isDry !== true) return create(context);
  // The next record to be created gets the id, so fields that are found by it would be somebody else's.
  return { ...await create(context.dryRun), id: 0 };
}

/** The context of an update, or of the check whether it could be made. @param isDry `dryRun` */
export function updating(context: Context, isDry: boolean | null | undefined): Context {
  return isDry === true ? context.dryRun : context;
}
