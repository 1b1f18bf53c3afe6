import { enumOf } from '../values/enum.ts';

/** What bytes are counted for. */
export const TrafficResource = enumOf('TrafficResource', 'What bytes are counted for.', {
  client: 'A client: its tunnels and hosts together.',
  tunnel: 'A tunnel.',
  host: 'A host.',
  user: 'A user: the clients that were theirs at that time.',
});

/** The length of the buckets of a series. */
export const TrafficStep = enumOf('TrafficStep', 'The length of the buckets of a series.', {
  minute: 'A minute; kept for days.',
  hour: 'An hour; kept for weeks.',
  day: 'A day in UTC; kept for years.',
});
