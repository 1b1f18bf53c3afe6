import { useState } from 'react';
import { useEvents } from '../api/live.ts';
import { useData, useRun } from '../api/use.ts';
import { graphql } from '../generated/index.ts';
import type { LockoutsQuery } from '../generated/graphql.ts';
import { useLanguage } from '../language/language.tsx';
import { Empty } from '../parts/banner.tsx';
import { Failure } from '../parts/failure.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { useReport } from '../parts/toast.tsx';
import { useViewer } from '../shell/viewer.tsx';

const lockoutsQuery = graphql(`
  query Lockouts { lockouts { kind credential source until } }
`);
const lockoutChanges = graphql(`
  subscription LockoutsChanged { lockoutsChanged { kind credential source until } }
`);
const free = graphql(`
  mutation FreeLockout($kind: LockoutKind!, $source: String!) { freeLockout(kind: $kind, source: $source) }
`);

type Row = NonNullable<LockoutsQuery['lockouts']>[number];

/** `/lockouts`: who has to wait after wrong guesses, for administrators. */
export default function LockoutsPage() {
  const { t, f } = useLanguage();
  const { readOnly } = useViewer();
  const { data, error, refetch } = useData(lockoutsQuery, {});
  const [changed, setChanged] = useState<readonly Row[]>();
  useEvents(lockoutChanges, {}, ({ lockoutsChanged }) => setChanged(lockoutsChanged));
  const run = useRun();
  const report = useReport();
  const texts = t.people.lockouts;
  const rows = changed ?? data?.lockouts ?? undefined;
  async function end({ kind, source }: Row): Promise<void> {
    report((await run(free, { kind, source })).error, texts.ended);
    setChanged(undefined);
    refetch();
  }
  const columns: ReadonlyArray<Column<Row>> = [
    { key: 'source', head: texts.columns.source, cell: ({ source }) => <span className='mono'>{source}</span> },
    { key: 'kind', head: texts.columns.kind, leaves: 1, cell: ({ kind }) => texts.kinds[kind] },
    { key: 'credential', head: texts.columns.credential, leaves: 1, cell: ({ credential }) => texts.credentials[credential] },
    { key: 'until', head: texts.columns.until, isState: true, cell: ({ until }) => f.short(until) },
  ];
  return (
    <>
      <PageHead title={texts.title}>{texts.subtitle}</PageHead>
      <Failure error={error} onRetry={refetch} />
      <section className='card' aria-label={texts.title}>
        {rows?.length === 0 ? <Empty icon='lock' title={texts.noneTitle}>{texts.noneText}</Empty> : (
          <Table
            caption={texts.title}
            rows={rows}
            columns={columns}
            idOf={({ kind, credential, source }) => `${kind} ${credential} ${source}`}
            nameOf={({ source }) => source}
            {...(!readOnly && {
              menu: (row: Row) => (
                <button
                  type='button'
                  className='btn btn-s'
                  aria-label={texts.end + t.punctuation.colon + row.source}
                  onClick={() => void end(row)}
                >
                  {texts.end}
                </button>
              ),
            })}
          />
        )}
      </section>
    </>
  );
}
