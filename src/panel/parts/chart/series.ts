import { useEffect, useState } from 'react';
import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import type { TrafficResource, TrafficStep } from '../../generated/graphql.ts';

const trafficQuery = graphql(`
  query Traffic($resource: TrafficResource!, $id: ID, $step: TrafficStep!, $from: DateTime!) {
    traffic(resource: $resource, id: $id, step: $step, from: $from) { at inletBytes exportBytes }
  }
`);

/** The lengths of time that a chart shows. */
export type Range = 'hour' | 'day' | 'month';

/** The interval between samples, in seconds, and the number of samples, by range. */
export const ranges: Record<Range, { readonly step: TrafficStep; readonly seconds: number; readonly samples: number }> = {
  hour: { step: 'MINUTE', seconds: 60, samples: 60 },
  day: { step: 'HOUR', seconds: 3600, samples: 24 },
  month: { step: 'DAY', seconds: 86_400, samples: 30 },
};

/** A traffic series: times in s since 1970, rates in bytes per second. */
export interface Series {
  readonly times: readonly number[];
  readonly toVisitors: readonly number[];
  readonly fromVisitors: readonly number[];
  readonly totalOut: number;
  readonly totalIn: number;
}

/** The interval at which a chart is read again, in ms. */
const everyMs = 5000;

/** The traffic of a record until now. Intervals without a sample had no traffic. */
export function useSeries(resource: TrafficResource, id: string | null, range: Range): Series | undefined {
  const { step, seconds, samples } = ranges[range];
  const now = useNow();
  const last = now - now % seconds;
  const first = last - (samples - 1) * seconds;
  const { data } = useData(trafficQuery, { resource, id, step, from: new Date(first * 1000).toISOString() }, { everyMs });
  if (data === undefined) return undefined;
  const found = new Map(data.traffic.map((sample) => [Date.parse(sample.at) / 1000, sample]));
  const times = Array.from({ length: samples }, (_, at) => first + at * seconds);
  // The newest interval is not over yet: its rate is over the part that has passed.
  const rate = (time: number, bytes: number | undefined): number => (bytes ?? 0) / Math.min(seconds, Math.max(1, now - time));
  const sum = (of: 'inletBytes' | 'exportBytes'): number => data.traffic.reduce((total, sample) => total + sample[of], 0);
  return {
    times,
    toVisitors: times.map((time) => rate(time, found.get(time)?.exportBytes)),
    fromVisitors: times.map((time) => rate(time, found.get(time)?.inletBytes)),
    totalOut: sum('exportBytes'),
    totalIn: sum('inletBytes'),
  };
}

/** The time in s since 1970, updated every few seconds. */
export function useNow(): number {
  const [now, setNow] = useState(() => Math.floor(Date.now() / 1000));
  useEffect(() => {
    const timer = setInterval(() => setNow(Math.floor(Date.now() / 1000)), everyMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}
