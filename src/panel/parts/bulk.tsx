import type { ReactNode } from 'react';
import type { CombinedError } from 'urql';
import { failureOf } from '../api/failure.ts';
import type { Messages } from '../language/en/index.ts';
import { useLanguage } from '../language/language.tsx';
import type { SelectedRows } from './selection.ts';

/** The server runs eight operations of a caller at a time; some are left for the page. */
const parallel = 4;

/** The outcome of running a mutation for several records. */
export interface BulkOutcome {
  readonly done: readonly string[];
  /** The ids that failed, by the reason. */
  readonly failed: ReadonlyMap<string, readonly string[]>;
}

/** Runs a mutation for each id, a few at a time. */
export async function runForAll(
  ids: readonly string[],
  run: (id: string) => Promise<{ readonly error?: CombinedError }>,
  t: Messages,
): Promise<BulkOutcome> {
  const waiting = [...ids];
  const done: string[] = [];
  const failed = new Map<string, string[]>();
  const work = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const { error } = await run(id);
      if (error === undefined) done.push(id);
      else {
        const { text } = failureOf(error, t);
        failed.set(text, [...failed.get(text) ?? [], id]);
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
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
