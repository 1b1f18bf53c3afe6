import * as z from 'zod';
import type { HealthSettings } from '../../wire/health.ts';

const seconds = (longest: number) => z.int('must be whole seconds').min(1, 'must be at least 1 s').max(longest, `must be at most ${longest} s`);

/**
 * The table `health` of a tunnel or host in the agent's configuration file: how its targets are checked. Times are whole seconds. An
 * interval counts from the start of one check to the start of the next.
 */
export const healthTable = z.strictObject({
  /** tcp: the target accepts a connection. http: it answers a GET with a status from 200 to 399. */
  type: z.enum(['tcp', 'http'], 'must be "tcp" or "http"').default('tcp'),
  /** Seconds between the starts of two checks of a target. */
  interval: seconds(3600).default(10),
  /** Timeout of a check, in seconds. */
  timeout: seconds(60).default(3),
  /** After this many failures in a row the target is taken out of rotation. */
  max_failed: z.int('must be a whole number').min(1, 'must be at least 1').max(100, 'must be at most 100').default(3),
  /** The path of the request (http). */
  path: z.string('must be a text').max(1024, 'must be at most 1024 characters').regex(/^\/[!-~]*$/, 'must be a path such as "/healthz", without blanks')
    .optional(),
}, { error: ({ code }) => code === 'invalid_type' ? 'must be a table' : undefined }).superRefine(({ type, path }, context) => {
  if (type === 'tcp' && path !== undefined) context.addIssue({ code: 'custom', path: ['path'], message: 'is for checks of type "http" only' });
}).transform(({ type, interval, timeout, max_failed: maxFailed, path }): HealthSettings => ({
  type,
  intervalMs: interval * 1000,
  timeoutMs: timeout * 1000,
  maxFailed,
  path: type === 'http' ? path ?? '/' : '',
}));
