import { ErrorCodeType } from '../scalars.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { AditError, invalidInput, maskedError } from '../errors.ts';
import type { ErrorCode } from '../error-codes.ts';
import { rowLimits } from '../lists/page.ts';
import { idOf } from '../values/ids.ts';

/** What became of one record of a change of several. */
interface BulkResult {
  readonly id: string;
  /** undefined = the change was made */
  readonly error: { readonly code: ErrorCode; readonly message: string } | undefined;
}

const BulkResultType = builder.objectRef<BulkResult>('BulkResult').implement({
  description: 'What became of one record of a change of several.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The record's id." }),
    code: t.field({ type: ErrorCodeType, nullable: true, description: 'Why it was not changed; null = it was.', resolve: ({ error }) => error?.code ?? null }),
    message: t.string({ nullable: true, description: 'The text of the error; null = it was changed.', resolve: ({ error }) => error?.message ?? null }),
  }),
});

/** The type of a mutation that changes several records. */
export const bulkResults: { readonly type: [typeof BulkResultType]; readonly extensions: { readonly items: number } } = {
  type: [BulkResultType],
  extensions: { items: rowLimits.most },
};

/** The argument with the records. */
export const bulkIds = { required: true, description: `The ids of the records, at most ${rowLimits.most}. Duplicates count once.` } as const;

/** How many records are changed at once: the store writes as many in one transaction, each for itself. */
const atOnce = 16;

/**
 * Makes the same change to several records, each with its own checks and entry in the audit log. One that fails does not affect the others. Writes of other callers
 * run in between.
 * @returns a result for each id, in their order @throws {AditError} INVALID_INPUT for an invalid id, or too many
 */
export async function changeEach(context: Context, given: readonly string[], change: (id: number) => Promise<unknown>): Promise<BulkResult[]> {
  const wanted = new Map(given.map((id, index) => [idOf(`ids.${index}`, id), id]));
  if (wanted.size > rowLimits.most) throw invalidInput('ids', `at most ${rowLimits.most} records at a time`, { most: rowLimits.most });
  const results: BulkResult[] = [];
  const entries = [...wanted];
  for (let start = 0; start < entries.length; start += atOnce) {
    results.push(
      ...await Promise.all(
        entries.slice(start, start + atOnce).map(async ([number, id]) => {
          try {
            await change(number);
            return { id, error: undefined };
          } catch (error) {
            return { id, error: error instanceof AditError ? error : maskedError(error, context.log, 'a record could not be changed', { id }) };
          }
        }),
      ),
    );
  }
  return results;
}
