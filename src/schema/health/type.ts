import type { HealthState, TargetHealthState } from '../../engine/face.ts';
import { builder } from '../builder.ts';
import { textOrNull } from '../values/empty.ts';
import { enumOf } from '../values/enum.ts';

/** What a health check does. */
const HealthCheckType = enumOf('HealthCheckType', 'What a health check does.', {
  tcp: 'Connects: the target is healthy when it takes the connection.',
  http: 'Sends a GET: the target is healthy when it answers with a status from 200 to 399.',
});

/** The results of the checks of one target. */
const TargetHealth = builder.objectRef<TargetHealthState>('TargetHealth').implement({
  description: 'What the checks of one target have come to.',
  fields: (t) => ({
    target: t.exposeString('target', { description: 'host:port' }),
    healthy: t.exposeBoolean('healthy', { description: 'It is in rotation; otherwise no new connection goes to it.' }),
    failures: t.exposeInt('failures', { description: 'Checks that failed in a row, at most half a minute old.' }),
    since: t.field({
      type: 'DateTime', nullable: true, description: 'Since when it is healthy, or is not; null = no check has failed yet.',
      resolve: ({ since }) => since === null ? null : new Date(since),
    }),
    lastError: t.string({ nullable: true, description: 'Of the last check that failed; null = none has.', resolve: (row) => textOrNull(row.lastError) }),
  }),
});

/** The settings and results of health checks. */
export const Health = builder.objectRef<HealthState>('Health').implement({
  description: "How the agent checks the targets, as its configuration file says, and what it found. With no healthy target visitors are refused.",
  fields: (t) => ({
    type: t.field({ type: HealthCheckType, description: 'What a check does.', resolve: ({ type }) => type }),
    intervalSeconds: t.float({ description: 'Seconds from one check of a target to its next.', resolve: ({ intervalMs }) => intervalMs / 1000 }),
    timeoutSeconds: t.float({ description: 'Seconds that a check may take.', resolve: ({ timeoutMs }) => timeoutMs / 1000 }),
    maxFailed: t.exposeInt('maxFailed', { description: 'After this many failures in a row a target is out of rotation, until a check succeeds.' }),
    path: t.string({ nullable: true, description: 'What is asked for (HTTP); null = TCP.', resolve: (row) => textOrNull(row.path) }),
    targets: t.field({ type: [TargetHealth], description: 'The targets.', resolve: ({ targets }) => targets }),
  }),
});
