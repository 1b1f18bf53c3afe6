import { useData, useRun } from '../api/use.ts';
import { graphql } from '../generated/index.ts';
import type { SessionsQuery } from '../generated/graphql.ts';
import { useLanguage } from '../language/language.tsx';
import { Empty } from '../parts/banner.tsx';
import { useConfirm } from '../parts/confirm.tsx';
import { Failure } from '../parts/failure.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { useReport } from '../parts/toast.tsx';
import { useViewer } from '../shell/viewer.tsx';

const sessionsQuery = graphql(`
  query Sessions { sessions { id role isOwn createdAt lastUsedAt user { id username } client { id remark } } }
`);
const endSession = graphql(`
  mutation EndSession($id: ID!) { endSession(id: $id) }
`);

type Row = NonNullable<SessionsQuery['sessions']>[number];
const everyMs = 10_000;

/** `/sessions`: who is logged in, for administrators. */
export default function SessionsPage() {
  const { t, f } = useLanguage();
  const { readOnly } = useViewer();
  const { data, error, refetch } = useData(sessionsQuery, {}, { everyMs });
  const run = useRun();
  const ask = useConfirm();
  const report = useReport();
  const texts = t.people.sessions;
  const rows = data?.sessions ?? undefined;
  const nameOf = ({ user, client }: Row): string => user?.username ?? (client ? client.remark || t.clients.nameless(client.id) : t.words.administrator);
  async function end(row: Row): Promise<void> {
    if (!await ask({ title: texts.endTitle(nameOf(row)), body: <p>{texts.endText}</p>, action: texts.end })) return;
    report((await run(endSession, { id: row.id })).error, texts.ended);
    refetch();
  }
  const columns: ReadonlyArray<Column<Row>> = [
    {
      key: 'who',
      head: texts.columns.who,
      cell: (row) => (
        <>
          {nameOf(row)} {row.isOwn && <span className='badge'>{texts.own}</span>}
        </>
      ),
    },
    { key: 'kind', head: texts.columns.kind, leaves: 1, cell: ({ role }) => texts.kinds[role] },
    { key: 'since', head: texts.columns.since, leaves: 1, cell: ({ createdAt }) => f.short(createdAt) },
    { key: 'last', head: texts.columns.lastSeen, isState: true, cell: ({ lastUsedAt }) => t.words.ago(f.duration(Date.now() - Date.parse(lastUsedAt))) },
  ];
  return (
    <>
      <PageHead title={texts.title}>{texts.subtitle}</PageHead>
      <Failure error={error} onRetry={refetch} />
      <section className='card' aria-label={texts.title}>
        {rows?.length === 0 ? <Empty icon='session' title={texts.noneTitle} /> : (
          <Table
            caption={texts.title}
            rows={rows}
            columns={columns}
            idOf={({ id }) => id}
            nameOf={nameOf}
            {...(!readOnly && {
              menu: (row: Row) => (
                <button
                  type='button'
                  className='btn btn-s'
                  aria-label={texts.end + t.punctuation.colon + nameOf(row)}
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
