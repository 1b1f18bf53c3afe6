import { statusOf } from '../../api/failure.ts';
import { useEffect, useState } from 'react';
import { lostSince } from '../../api/connection.ts';
import { useStore } from '../../api/store.ts';
import { useData } from '../../api/use.ts';
import { graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Banner } from '../../parts/banner.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Logo } from '../../parts/icon.tsx';
import { Bar, Mark, State } from '../../parts/state.tsx';

const wallRows = graphql(`
  fragment WallRows on WallPage { rows { id remark enabled connected tunnelCount hostCount connections rate } }
`);
/** A page has at most 200 clients: the screen shows the 1,000 with the most traffic. */
const wallQuery = graphql(`
  query Wall {
    counts: wall(limit: 0) { total connected }
    page1: wall(sort: { field: RATE, direction: DESC }, limit: 200) { ...WallRows }
    page2: wall(sort: { field: RATE, direction: DESC }, limit: 200, offset: 200) { ...WallRows }
    page3: wall(sort: { field: RATE, direction: DESC }, limit: 200, offset: 400) { ...WallRows }
    page4: wall(sort: { field: RATE, direction: DESC }, limit: 200, offset: 600) { ...WallRows }
    page5: wall(sort: { field: RATE, direction: DESC }, limit: 200, offset: 800) { ...WallRows }
    problems: wallProblems(limit: 8) { total rows { id code severity since remark client { id remark } } }
  }
`);

const everyMs = 2000;
const shownBusy = 8;

/** Who is online, where traffic goes, what is wrong: read from across a room. */
export function Screen() {
  const { t, f } = useLanguage();
  const lost = useStore(lostSince);
  const { data, error } = useData(wallQuery, {}, { everyMs });
  const [updated, setUpdated] = useState<Date>();
  useEffect(() => setUpdated(new Date()), [data]);
  useEffect(() => {
    const { dataset } = document.documentElement;
    if (lost === undefined) delete dataset['state'];
    else dataset['state'] = 'stale';
  }, [lost]);
  const texts = t.dashboard.wall;
  if (statusOf(error) === 401) {
    return (
      <main className='content'>
        <h1 className='visually-hidden'>{texts.title}</h1>
        <Banner tone='danger' role='alert' title={texts.ended} />
      </main>
    );
  }
  if (data === undefined) {
    return (
      <main className='content'>
        <h1 className='visually-hidden'>{texts.title}</h1>
        <Failure error={error} isAlone />
      </main>
    );
  }
  const pages = [data.page1, data.page2, data.page3, data.page4, data.page5].map((page) => unmask(wallRows, page));
  // The order can change between two pages.
  const rows = [...new Map(pages.flatMap((page) => page.rows).map((row) => [row.id, row])).values()];
  const { total, connected } = data.counts;
  const name = ({ id, remark }: { readonly id: string; readonly remark: string }): string => remark || t.clients.nameless(id);
  const { problems } = data;
  const busy = rows.filter(({ rate }) => rate > 0).slice(0, shownBusy);
  const sum = (of: 'rate' | 'connections'): number => rows.reduce((all, row) => all + row[of], 0);
  return (
    <div className='wall'>
      <header className='wall-head'>
        <h1>
          <Logo />
          {location.hostname}
        </h1>
        <span role='status'>{lost && texts.stale(f.moment(lost))}</span>
      </header>
      <main data-moves>
        <section className='card lg-4'>
          <h2>{texts.online}</h2>
          <p className='big'>
            {f.number(connected)} <small>{texts.ofAll(f.number(total))}</small>
          </p>
        </section>
        <section className='card lg-4'>
          <h2>{texts.traffic}</h2>
          <p className='big'>{f.rate(sum('rate'))}</p>
        </section>
        <section className='card lg-4'>
          <h2>{texts.connections}</h2>
          <p className='big'>{f.number(sum('connections'))}</p>
        </section>
        <section className='card lg-6'>
          <h2>{t.dashboard.attention}</h2>
          {problems.total === 0
            ? (
              <p className='said'>
                <State tone='ok'>{t.dashboard.allClear}</State>
              </p>
            )
            : (
              <ul className='wall-issues'>
                {problems.rows.map(({ id, code, severity, since, remark, client }) => (
                  <li key={id}>
                    <Mark tone={severity === 'BROKEN' ? 'danger' : 'warn'} />
                    <span>{t.problems.what[code](remark ?? (client ? name(client) : ''))}</span>
                    <span className='muted'>{since && t.words.ago(f.duration(Date.now() - Date.parse(since)))}</span>
                  </li>
                ))}
                {problems.total > problems.rows.length && (
                  <li>
                    <span />
                    <span className='muted'>{t.dashboard.more(problems.total - problems.rows.length)}</span>
                  </li>
                )}
              </ul>
            )}
        </section>
        <section className='card lg-6'>
          <h2>{texts.busiest}</h2>
          {busy.length === 0 ? <p className='said muted'>{t.dashboard.top.none}</p> : (
            <ul className='wall-list'>
              {busy.map((row) => (
                <li key={row.id}>
                  <span>{name(row)}</span>
                  <span>{f.rate(row.rate)}</span>
                  <Bar used={row.rate} limit={busy[0]?.rate ?? 1} isPlain />
                </li>
              ))}
            </ul>
          )}
        </section>
        <section className='card lg-12'>
          <h2>{texts.all}</h2>
          <ul className='matrix' aria-label={t.words.of(f.number(connected), f.number(total))}>
            {rows.map((row) => (
              <li key={row.id} title={name(row)}>
                <Mark tone={!row.enabled ? 'off' : row.connected ? 'ok' : 'away'} />
                <span className='visually-hidden'>
                  {name(row) + t.punctuation.colon}
                  {!row.enabled ? t.states.disabled : row.connected ? t.states.online : t.states.away}
                </span>
              </li>
            ))}
          </ul>
        </section>
      </main>
      <footer className='wall-foot'>
        <span>Adit</span>
        {updated && <span>{texts.updated(f.moment(updated))}</span>}
      </footer>
    </div>
  );
}
