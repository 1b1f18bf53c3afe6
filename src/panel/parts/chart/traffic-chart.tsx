import { lazy, Suspense, useState } from 'react';
import type { TrafficResource } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { Loading } from '../loading.tsx';
import { type Range, useSeries } from './series.ts';

const Plot = lazy(() => import('./plot.tsx'));
const names: readonly Range[] = ['hour', 'day', 'month'];

/** The traffic of a record over time, as a chart and a table. @param now the current rates; absent = not shown */
export function TrafficChart({ resource, id, now }: {
  readonly resource: TrafficResource;
  /** null = of the server. */
  readonly id: string | null;
  readonly now?: { readonly toVisitors: number; readonly fromVisitors: number };
}) {
  const { t, f } = useLanguage();
  const [range, setRange] = useState<Range>('hour');
  const series = useSeries(resource, id, range);
  const most = (values: readonly number[]): string => f.rate(Math.max(0, ...values));
  return (
    <div className='stack'>
      <div className='row spread'>
        <div className='legend' data-moves>
          <span>
            <svg viewBox='0 0 24 12' aria-hidden='true'>
              <path className='area' d='M0 4h24v8H0z' />
              <path className='line-1' d='M0 4h24' />
            </svg>
            {t.traffic.toVisitors} <span className='value'>{now ? f.rate(now.toVisitors) : series && f.bytes(series.totalOut)}</span>
          </span>
          <span>
            <svg viewBox='0 0 24 12' aria-hidden='true'>
              <path className='line-2' d='M0 6h24' />
            </svg>
            {t.traffic.fromVisitors} <span className='value'>{now ? f.rate(now.fromVisitors) : series && f.bytes(series.totalIn)}</span>
          </span>
        </div>
        <div className='seg seg-s' role='group' aria-label={t.traffic.range}>
          {names.map((name) => <button key={name} type='button' aria-pressed={range === name} onClick={() => setRange(name)}>{t.traffic.ranges[name]}</button>)}
        </div>
      </div>
      {series === undefined && <Loading />}
      <Suspense
        fallback={
          <div className='uplot-frame'>
            <Loading />
          </div>
        }
      >
        {series && (series.totalIn + series.totalOut === 0
          ? <p className='muted'>{t.traffic.none}</p>
          : <Plot series={series} label={t.traffic.chart(t.traffic.ranges[range], most(series.toVisitors), most(series.fromVisitors))} />)}
      </Suspense>
      {series && series.totalIn + series.totalOut > 0 && (
        <details className='data'>
          <summary>{t.traffic.asTable}</summary>
          <table className='table'>
            <thead>
              <tr>
                <th scope='col'>{t.traffic.at(f.zone)}</th>
                <th scope='col' className='num'>{t.traffic.toVisitors}</th>
                <th scope='col' className='num'>{t.traffic.fromVisitors}</th>
              </tr>
            </thead>
            <tbody>
              {series.times.map((time, at) => (
                <tr key={time}>
                  <th scope='row'>{f.moment(new Date(time * 1000))}</th>
                  <td className='num'>{f.rate(series.toVisitors[at] ?? 0)}</td>
                  <td className='num'>{f.rate(series.fromVisitors[at] ?? 0)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </div>
  );
}
