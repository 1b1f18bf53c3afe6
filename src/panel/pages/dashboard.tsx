import { useState } from 'react';
import { Link, Redirect } from 'wouter';
import { useEvents } from '../api/live.ts';
import { useData } from '../api/use.ts';
import { graphql } from '../generated/index.ts';
import { useLanguage } from '../language/language.tsx';
import { kept } from '../language/kept.ts';
import { TrafficChart } from '../parts/chart/traffic-chart.tsx';
import { Failure } from '../parts/failure.tsx';
import { Icon } from '../parts/icon.tsx';
import { Loading } from '../parts/loading.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Bar } from '../parts/state.tsx';
import { useThrottled } from '../parts/throttled.ts';
import { useViewer } from '../shell/viewer.tsx';
import { Agents } from './dashboard/agents.tsx';
import { Attention } from './dashboard/attention.tsx';

const dashboardQuery = graphql(`
  query Dashboard {
    busiest: clients(sort: { field: RATE, direction: DESC }, limit: 6) { rows { id remark runtime { rate connections } } }
    ...DashboardAgents
  }
`);
const serverTraffic = graphql(`
  subscription ServerTraffic { serverTrafficEverySecond { at rate inletRate exportRate connections } }
`);
const userTraffic = graphql(`
  subscription UserTraffic($id: ID!) { trafficEverySecond(resource: USER, id: $id) { at rate inletRate exportRate connections } }
`);

interface Tick {
  readonly at: string;
  readonly rate: number;
  readonly inletRate: number;
  readonly exportRate: number;
  readonly connections: number;
}

const movingMs = 5000;

/** `/`: what is wrong, traffic, agents, and the busiest clients. A fresh server opens the first steps instead. */
export default function Dashboard() {
  const { t, f } = useLanguage();
  const { user, role, server, isAdministrator, readOnly, refetch: refetchCounts } = useViewer();
  const { data, error, refetch } = useData(dashboardQuery, {}, { everyMs: movingMs });
  const [now, setNow] = useState<Tick>();
  useEvents(serverTraffic, {}, ({ serverTrafficEverySecond }) => setNow(serverTrafficEverySecond), { pause: !isAdministrator });
  useEvents(userTraffic, { id: user?.id ?? '' }, ({ trafficEverySecond }) => setNow(trafficEverySecond), { pause: role !== 'USER' });
  const refetchSoon = useThrottled(() => {
    refetch();
    refetchCounts();
  });

  const { counts } = server;
  if (counts.clients.total === 0 && !readOnly && kept('welcome') === undefined) return <Redirect to='/welcome' replace />;
  const busiest = data?.busiest.rows.filter(({ runtime }) => runtime.rate > 0);
  return (
    <>
      <PageHead
        title={t.dashboard.title}
        actions={!readOnly && (
          <>
            <Link className='btn' href='/welcome'>{t.dashboard.welcome.link}</Link>
            <Link className='btn btn-primary' href='/clients/new'>
              <Icon name='plus' />
              {t.clients.create}
            </Link>
          </>
        )}
      >
        {now && (
          <span data-moves>
            {t.dashboard.asOf(f.moment(now.at))}
          </span>
        )}
      </PageHead>
      <Failure error={error} onRetry={refetch} />
      <div className='dash'>
        <Attention onChange={refetchSoon} />
        <section className='card' aria-labelledby='h-traffic'>
          <div className='card-head'>
            <h2 id='h-traffic'>{t.traffic.title}</h2>
          </div>
          <div className='card-body'>
            <TrafficChart
              resource={isAdministrator ? 'SERVER' : 'USER'}
              id={isAdministrator ? null : user?.id ?? ''}
              {...(now && { now: { toVisitors: now.exportRate, fromVisitors: now.inletRate } })}
            />
          </div>
          <dl className='tiles' data-moves>
            <Tile title={t.dashboard.counts.rate} value={now && f.rate(now.rate)} />
            <Tile title={t.dashboard.counts.connections} value={now && f.number(now.connections)} />
            <Tile title={t.dashboard.counts.tunnels} value={t.words.of(f.number(counts.tunnels.running), f.number(counts.tunnels.total))} />
            <Tile title={t.dashboard.counts.hosts} value={t.words.of(f.number(counts.hosts.serving), f.number(counts.hosts.total))} />
          </dl>
        </section>
        <Agents of={data} />
        <section className='card' aria-labelledby='h-top'>
          <div className='card-head'>
            <h2 id='h-top'>{t.dashboard.top.title}</h2>
          </div>
          {busiest === undefined
            ? (
              <div className='card-body'>
                <Loading />
              </div>
            )
            : busiest.length === 0
            ? <p className='card-body muted'>{t.dashboard.top.none}</p>
            : (
              <ul className='lines' data-moves>
                {busiest.map(({ id, remark, runtime }) => (
                  <li key={id}>
                    <Link href={`/clients/${id}`}>{remark || t.clients.nameless(id)}</Link>
                    <span className='used'>
                      <span className='num'>{f.rate(runtime.rate)}</span>
                      <Bar used={runtime.rate} limit={Math.max(1, busiest[0]?.runtime.rate ?? 1)} isPlain />
                    </span>
                  </li>
                ))}
              </ul>
            )}
        </section>
      </div>
    </>
  );
}

/** @param value undefined = not known yet */
function Tile({ title, value }: { readonly title: string; readonly value: string | undefined }) {
  return (
    <div className='tile'>
      <dt>{title}</dt>
      <dd>
        <span className='value'>{value ?? '–'}</span>
      </dd>
    </div>
  );
}
