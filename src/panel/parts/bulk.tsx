import type { ReactNode } from 'react';
import type { CombinedError } from 'urql';
import { failureOf, statusOf, textOf } from '../api/failure.ts';
import type { ErrorCode } from '../generated/graphql.ts';
import type { Messages } from '../language/en/index.ts';
import { useLanguage } from '../language/language.tsx';
import type { SelectedRows } from './selection.ts';

/** The most records that the server changes in one request. */
const atOnce = 200;

/** The outcome of a change of several records. */
interface BulkOutcome {
  readonly done: number;
  /** How many failed, by the reason. */
  readonly failed: ReadonlyMap<string, number>;
}

/** What the server says of each record. */
export interface BulkAnswer {
  readonly results?: ReadonlyArray<{ readonly code?: ErrorCode | null | undefined; readonly message?: string | null | undefined }> | undefined;
  readonly error?: CombinedError | undefined;
}

/** Changes records, as many in one request as the server takes. @returns undefined = the session has ended, and the dialog asks for a login */
export async function changeAll(ids: readonly string[], change: (ids: string[]) => Promise<BulkAnswer>, t: Messages): Promise<BulkOutcome | undefined> {
  let done = 0;
  const failed = new Map<string, number>();
  const fail = (reason: string, count: number): void => void failed.set(reason, (failed.get(reason) ?? 0) + count);
  for (let start = 0; start < ids.length; start += atOnce) {
    const part = ids.slice(start, start + atOnce);
    const { results, error } = await change(part);
    if (statusOf(error) === 401) return undefined;
    if (error !== undefined) fail(failureOf(error, t).text, part.length);
    for (const { code, message } of results ?? []) {
      if (code === null || code === undefined) done++;
      else fail(textOf({ code, message: message ?? '' }, t), 1);
    }
  }
  return { done, failed };
}

/** The bar with the actions for all selected records. @param total of the list; @param onSelectAll selects all of them */
export function BulkBar<Row>({ selection, total, onSelectAll, children }: {
  readonly selection: SelectedRows<Row>;
  readonly total: number;
  readonly onSelectAll: () => void;
  readonly children: ReactNode;
}) {
  const { t } = useLanguage();
  const count = selection.ids.size;
  if (count === 0) return null;
  return (
    <div className='bulkbar' role='region' aria-label={t.list.selected(count)}>
      <strong role='status'>{t.list.selected(count)}</strong>
      {count < total && (
        <button type='button' className='link' onClick={onSelectAll}>
          {t.list.selectAll(total)}
        </button>
      )}
      {children}
      <button type='button' className='btn btn-s btn-ghost' onClick={selection.clear}>
        {t.list.clearSelection}
      </button>
    </div>
  );
}
