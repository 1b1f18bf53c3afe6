import { useState } from 'react';
import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import type { RefusalsQuery } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { type Range, ranges, useNow } from '../../parts/chart/series.ts';
import { Failure } from '../../parts/failure.tsx';
import { type Column, Table } from '../../parts/table.tsx';

const refusalsQuery = graphql(`
  query Refusals($clientId: ID!, $step: TrafficStep!, $from: DateTime!) {
    refusals(clientId: $clientId, step: $step, from: $from) { at refusals { cause count } }
  }
`);

type Sample = RefusalsQuery['refusals'][number];

const names: readonly Range[] = ['hour', 'day', 'month'];
/** They are read again after this many ms. */
const everyMs = 5000;

/** The visitors that a client refused over time, by cause, the newest first. */
export function Refusals({ clientId }: { readonly clientId: string }) {
  const { t, f } = useLanguage();
  const [range, setRange] = useState<Range>('day');
  const { step, seconds, samples } = ranges[range];
  const now = useNow();
  const from = new Date((now - now % seconds - (samples - 1) * seconds) * 1000).toISOString();
  const { data, error, refetch } = useData(refusalsQuery, { clientId, step, from }, { everyMs });
  const texts = t.clients.refused;
  const columns: ReadonlyArray<Column<Sample>> = [
    { key: 'at', head: t.traffic.at(f.zone), cell: ({ at }) => <time dateTime={at}>{f.moment(at)}</time> },
    { key: 'count', head: texts.count, isNumber: true, cell: ({ refusals }) => f.number(refusals.reduce((sum, { count }) => sum + count, 0)) },
    {
      key: 'causes',
      head: texts.causes,
      cell: ({ refusals }) => refusals.map(({ cause, count }) => `${t.clients.refusals[cause]} ${f.number(count)}`).join(t.punctuation.comma),
    },
  ];
  return (
    <section aria-labelledby='h-refusals'>
      <div className='card-head'>
        <h2 id='h-refusals'>{texts.title}</h2>
        <div className='seg seg-s' role='group' aria-label={texts.range}>
          {names.map((name) => <button key={name} type='button' aria-pressed={range === name} onClick={() => setRange(name)}>{t.traffic.ranges[name]}</button>)}
        </div>
      </div>
      <Failure error={error} onRetry={refetch} />
      {data?.refusals.length === 0
        ? <p className='card-body muted'>{texts.none}</p>
        : (
          <Table
            caption={texts.title}
            rows={data?.refusals.toReversed()}
            columns={columns}
            idOf={({ at }) => at}
            nameOf={({ at }) => f.moment(at)}
          />
        )}
    </section>
  );
}
