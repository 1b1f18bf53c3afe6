import { useState } from 'react';
import { base } from '../../base.ts';
import { useEvents } from '../../api/live.ts';
import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import type { AuditAction, AuditEntryFilter, AuditResource, CallerKind } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { Banner, Empty } from '../../parts/banner.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Icon } from '../../parts/icon.tsx';
import { pageRows, useListState } from '../../parts/list-state.ts';
import { Pager, Search } from '../../parts/list-tools.tsx';
import { Loading } from '../../parts/loading.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { Entry } from './entry.tsx';

const entriesQuery = graphql(`
  query AuditEntries($filter: AuditEntryFilter, $search: String, $offset: Int!, $limit: Int!) {
    auditEntries(filter: $filter, search: $search, offset: $offset, limit: $limit) { total searchedBackTo rows { id at ...AuditEntryFields } }
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
  'NODE',
  'INSTALLATION_KEY',
  'ACME_ORDER',
  'CONNECTION',
  'IMPORT',
];
const actions: readonly AuditAction[] = ['CREATE', 'UPDATE', 'DELETE'];
const callers: readonly CallerKind[] = ['ADMINISTRATOR', 'USER', 'CLIENT', 'ANONYMOUS', 'SERVER'];

/** `/audit`: who changed what. */
export default function AuditPage() {
  const { t, f } = useLanguage();
  const list = useListState('');
  const { server } = useViewer();
  const filter = filterOf(list.get);
  const { data, error, refetch } = useData(entriesQuery, { filter, search: list.q || null, offset: list.offset, limit: pageRows });
  const [news, setNews] = useState(0);
  useEvents(added, {}, () => setNews((count) => count + 1));
  const rows = data?.auditEntries?.rows;
  const total = data?.auditEntries?.total ?? 0;
  const searchedBackTo = data?.auditEntries?.searchedBackTo;
  const texts = t.audit;

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
          <>
            {(['ndjson', 'csv'] as const).map((format) => (
              <a key={format} className='btn' href={`${base}/audit/download.${format}?${parametersOf(filter, list.q)}`} download>
                <Icon name='download' />
                {texts.downloads[format]}
              </a>
            ))}
          </>
        }
      >
        {texts.subtitle(server.retention.auditDays)}
      </PageHead>
      <Failure error={error} onRetry={refetch} />
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
          <Search list={list} label={t.list.search} placeholder={texts.searchHint} />
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
                  {today}
                  <span className='muted'>{t.punctuation.brackets(f.zone)}</span>
                </h2>
              )}
              <Entry of={row} onOnly={(what, id) => list.set({ what, id })} />
            </div>
          );
        })}
        {searchedBackTo && <p className='card-foot small muted' role='status'>{texts.searchedBackTo(f.moment(searchedBackTo))}</p>}
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

/** The conditions as parameters of a download. */
function parametersOf(filter: AuditEntryFilter, search: string): string {
  const all = Object.entries({ ...filter, search }).flatMap(([name, value]) => typeof value === 'string' && value !== '' ? [[name, value]] : []);
  return new URLSearchParams(all).toString();
}

/** The beginning of a day in the viewer's zone, or of a later day. */
function midnight(text: string, days: number): string | undefined {
  const [year, month, day] = text.split('-').map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  return new Date(year, month - 1, day + days).toISOString();
}
