import type { HealthState, TargetHealthState } from '../../engine/face.ts';
import { builder } from '../builder.ts';
import { textOrNull } from '../values/empty.ts';
import { enumOf } from '../values/enum.ts';

/** The type of a health check. */
const HealthCheckType = enumOf('HealthCheckType', 'The type of a health check.', {
  tcp: 'Opens a connection. The target is healthy if it accepts.',
  http: 'Sends a GET request. The target is healthy if the status of its response is between 200 and 399.',
});

/** The results of the checks of one target. */
const TargetHealth = builder.objectRef<TargetHealthState>('TargetHealth').implement({
  description: 'The result of the health checks of one target.',
  fields: (t) => ({
    target: t.exposeString('target', { description: 'host:port' }),
    healthy: t.exposeBoolean('healthy', { description: 'Whether the target is in rotation. An unhealthy target gets no new connections.' }),
    failures: t.exposeInt('failures', { description: 'The number of consecutive failed checks. Can be up to 30 seconds old.' }),
    since: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When `healthy` last changed; null = no check has failed yet.',
      resolve: ({ since }) => since === null ? null : new Date(since),
    }),
    lastError: t.string({
      nullable: true,
      description: 'The error of the last failed check; null = none has failed.',
      resolve: (row) => textOrNull(row.lastError),
    }),
  }),
});

/** The settings and results of health checks. */
export const Health = builder.objectRef<HealthState>('Health').implement({
  description: "The health checks of the agent's configuration file, and their results. If no target is healthy, visitors are refused.",
  fields: (t) => ({
    type: t.field({ type: HealthCheckType, description: 'The type of the checks.', resolve: ({ type }) => type }),
    intervalSeconds: t.float({ description: 'The interval between two checks of a target, in seconds.', resolve: ({ intervalMs }) => intervalMs / 1000 }),
    timeoutSeconds: t.float({ description: 'The timeout of a check, in seconds.', resolve: ({ timeoutMs }) => timeoutMs / 1000 }),
    maxFailed: t.exposeInt('maxFailed', { description: 'A target is taken out of rotation after this many consecutive failures, until a check succeeds.' }),
    path: t.string({ nullable: true, description: 'The path that HTTP checks request; null for TCP checks.', resolve: (row) => textOrNull(row.path) }),
    targets: t.field({ type: [TargetHealth], description: 'The targets.', resolve: ({ targets }) => targets }),
  }),
});
