import { useState } from 'react';
import type { CombinedError, OperationResult } from 'urql';
import { useEvents } from '../../api/live.ts';
import { useAsk, useData } from '../../api/use.ts';
import { graphql, unmask } from '../../generated/index.ts';
import type { AuditAction, AuditEntriesQuery, AuditEntryFieldsFragment, AuditEntryFilter, AuditResource, CallerKind } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { Banner, Empty } from '../../parts/banner.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Icon } from '../../parts/icon.tsx';
import { pageRows, useListState } from '../../parts/list-state.ts';
import { Pager } from '../../parts/list-tools.tsx';
import { Loading } from '../../parts/loading.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { auditEntry, Entry } from './entry.tsx';

const entriesQuery = graphql(`
  query AuditEntries($filter: AuditEntryFilter, $offset: Int!, $limit: Int!) {
    auditEntries(filter: $filter, offset: $offset, limit: $limit) { total rows { id at ...AuditEntryFields } }
  }
`);
const added = graphql(`
  subscription AuditAdded { auditAdded { id } }
`);

const resources: readonly AuditResource[] = [
  'CLIENT',
  'TUNNEL',
  'HOST',
  'USER',
  'API_TOKEN',
  'ENROLMENT',
  'GLOBAL_SETTINGS',
  'SESSION',
  'FAILED_ATTEMPT',
  'LOCKOUT',
  'CONNECTION',
];
const actions: readonly AuditAction[] = ['CREATE', 'UPDATE', 'DELETE'];
const callers: readonly CallerKind[] = ['ADMINISTRATOR', 'USER', 'CLIENT', 'ANONYMOUS', 'SERVER'];
/** The entries that one request of the download asks for. */
const downloadRows = 200;

type Answer = OperationResult<AuditEntriesQuery>;

/** `/audit`: who changed what. */
export default function AuditPage() {
  const { t, f } = useLanguage();
  const list = useListState('');
  const ask = useAsk();
  const { server } = useViewer();
  const filter = filterOf(list.get);
  const { data, error, refetch } = useData(entriesQuery, { filter, offset: list.offset, limit: pageRows });
  const [news, setNews] = useState(0);
  const [loaded, setLoaded] = useState<number>();
  const [downloadError, setDownloadError] = useState<CombinedError>();
  useEvents(added, {}, () => setNews((count) => count + 1));
  const rows = data?.auditEntries?.rows;
  const total = data?.auditEntries?.total ?? 0;
  const texts = t.audit;

  async function download(): Promise<void> {
    const lines: string[] = [];
    let beforeId: string | null = null;
    for (;;) {
      const { data: page, error: failure }: Answer = await ask(entriesQuery, { filter: { ...filter, beforeId }, offset: 0, limit: downloadRows });
      const entries: readonly AuditEntryFieldsFragment[] = page?.auditEntries?.rows.map((row) => unmask(auditEntry, row)) ?? [];
      lines.push(...entries.map((entry) => JSON.stringify(entry)));
      setLoaded(lines.length);
      beforeId = entries.at(-1)?.id ?? null;
      if (failure !== undefined || entries.length < downloadRows) {
        setLoaded(undefined);
        setDownloadError(failure);
        if (failure === undefined) save(lines.map((line) => `${line}\n`).join(''));
        return;
      }
    }
  }

  const select = (name: string, label: string, all: string, options: ReadonlyArray<readonly [string, string]>) => (
    <div className='field'>
      <label className='xs muted' htmlFor={`filter-${name}`}>{label}</label>
      <select className='select' id={`filter-${name}`} value={list.get(name)} onChange={({ target }) => list.set({ [name]: target.value, id: '' })}>
        <option value=''>{all}</option>
        {options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
      </select>
    </div>
  );
  const day = (name: string, label: string) => (
    <div className='field'>
      <label className='xs muted' htmlFor={`filter-${name}`}>{label}</label>
      <input className='input' type='date' id={`filter-${name}`} value={list.get(name)} onChange={({ target }) => list.set({ [name]: target.value })} />
    </div>
  );
  return (
    <>
      <PageHead
        title={texts.title}
        actions={
          <button type='button' className='btn' onClick={() => void download()} aria-disabled={loaded !== undefined || undefined}>
            <Icon name='download' />
            {loaded === undefined ? texts.download : texts.downloading(f.number(loaded))}
          </button>
        }
      >
        {texts.subtitle(server.retention.auditDays)}
      </PageHead>
      <Failure error={error} onRetry={refetch} />
      <Failure error={downloadError} onRetry={() => void download()} />
      {news > 0 && (
        <Banner
          tone='accent'
          title={texts.newEntries(news)}
          action={
            <button
              type='button'
              className='btn btn-s'
              onClick={() => {
                setNews(0);
                refetch();
              }}
            >
              {texts.showNew}
            </button>
          }
        >
          {texts.newText}
        </Banner>
      )}
      <section className='card clip' aria-label={texts.title}>
        <div className='toolbar' role='search' aria-label={t.list.filters}>
          {select('what', texts.what, texts.everything, resources.map((name) => [name, texts.resources[name]]))}
          {select('who', texts.who, texts.anyone, callers.map((name) => [name, texts.callers[name]]))}
          {select('did', texts.did, texts.anything, actions.map((name) => [name, texts.actions[name]]))}
          {day('from', texts.from(f.zone))}
          {day('to', texts.to)}
        </div>
        {rows === undefined && error === undefined && <Loading />}
        {rows?.length === 0 && <Empty icon='audit' title={texts.none}>{texts.noneText}</Empty>}
        {rows?.map((row, at) => {
          const before = rows[at - 1];
          const today = f.day(row.at);
          return (
            <div key={row.id}>
              {(before === undefined || f.day(before.at) !== today) && (
                <h2 className='day'>
                  {today} <span className='muted'>({f.zone})</span>
                </h2>
              )}
              <Entry of={row} onOnly={(what, id) => list.set({ what, id })} />
            </div>
          );
        })}
        <Pager list={list} total={total} />
      </section>
    </>
  );
}

function filterOf(get: (name: string) => string): AuditEntryFilter {
  const resource = resources.find((name) => name === get('what'));
  const callerKind = callers.find((name) => name === get('who'));
  const action = actions.find((name) => name === get('did'));
  const [id, from, to] = [get('id'), midnight(get('from'), 0), midnight(get('to'), 1)];
  return {
    ...(resource && { resource }),
    ...(callerKind && { callerKind }),
    ...(action && { action }),
    ...(id !== '' && { resourceId: id }),
    ...(from && { from }),
    ...(to && { to }),
  };
}

/** The beginning of a day in the viewer's zone, or of a later day. */
function midnight(text: string, days: number): string | undefined {
  const [year, month, day] = text.split('-').map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  return new Date(year, month - 1, day + days).toISOString();
}

function save(text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }));
  link.download = `adit-audit-${new Date().toISOString().slice(0, 10)}.ndjson`;
  link.click();
  URL.revokeObjectURL(link.href);
}
