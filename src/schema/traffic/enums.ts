import { enumOf } from '../values/enum.ts';

/** The kinds of records with traffic counters. */
export const TrafficResource = enumOf('TrafficResource', 'What traffic is counted for.', {
  client: 'A client: the sum over its tunnels and hosts.',
  tunnel: 'A tunnel.',
  host: 'A host.',
  user: 'A user: the sum over the clients that they owned at that time.',
  server: 'The server: the sum over all clients. For administrators.',
});

/** The length of the buckets of a series. */
export const TrafficStep = enumOf('TrafficStep', 'The interval between the samples of a series.', {
  minute: 'One minute. Kept for days.',
  hour: 'One hour. Kept for weeks.',
  day: 'One day in UTC. Kept for years.',
});
