import * as z from 'zod';
import { label, value } from './peer-text.ts';

/** Maximum targets in one message: it fits a frame even if targets and errors have their maximum lengths. */
export const HEALTH_TARGETS = 50;
/** Longest error that is reported for a target, in characters. */
export const HEALTH_ERROR = 200;

/** How the targets of a tunnel or host are checked. */
const healthSettings = z.object({
  type: z.enum(['tcp', 'http']),
  /** From the start of one check of a target to the start of the next. */
  intervalMs: z.int().min(1).max(3_600_000),
  timeoutMs: z.int().min(1).max(60_000),
  /** After this many failures in a row a target gets no connections. */
  maxFailed: z.int().min(1).max(100),
  /** The path of the check (http); "" = tcp. */
  path: label(1024),
});
/** @see healthSettings */
export type HealthSettings = z.output<typeof healthSettings>;

/** The results of the checks of a target. */
const targetHealth = z.object({
  /** host:port */
  target: value(300),
  /** The target gets connections. */
  healthy: z.boolean(),
  /** Failed checks in a row. */
  failures: z.int().min(0).max(1e9),
  /** How long the target has been in this state, in ms. */
  ageMs: z.int().min(0).max(1e12),
  /** Error of the last failed check; "" = none has failed. */
  error: label(HEALTH_ERROR),
});
/** @see targetHealth */
export type TargetHealthReport = z.output<typeof targetHealth>;

/**
 * What an agent reports about its checks of one tunnel or host. Targets that no message has mentioned are healthy; for the others the last
 * report counts.
 */
export const healthMessage = z.object({
  type: z.literal('health'),
  of: z.enum(['tunnel', 'host']),
  id: z.int(),
  /** Checks begin, and earlier reports are void; null = checks have ended. Absent = no change. */
  check: healthSettings.nullable().optional(),
  targets: z.array(targetHealth).max(HEALTH_TARGETS),
});
/** @see healthMessage */
export type HealthMessage = z.output<typeof healthMessage>;
