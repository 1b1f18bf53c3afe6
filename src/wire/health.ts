import { z } from 'zod';
import { label, value } from './peer-text.ts';

/** Most targets that one message tells of: with targets and errors as long as they may be, it fits a frame. */
export const HEALTH_TARGETS = 50;
/** Longest error that is told of a target, in characters. */
export const HEALTH_ERROR = 200;

/** How the targets of a tunnel or host are checked. */
export const healthSettings = z.object({
  type: z.enum(['tcp', 'http']),
  /** From the start of one check of a target to the start of the next. */
  intervalMs: z.int().min(1).max(3_600_000),
  timeoutMs: z.int().min(1).max(60_000),
  /** After so many failures in a row a target is out of turn. */
  maxFailed: z.int().min(1).max(100),
  /** What is asked for (http); "" = tcp. */
  path: label(1024),
});
/** @see healthSettings */
export type HealthSettings = z.output<typeof healthSettings>;

/** What the checks of a target have come to. */
export const targetHealth = z.object({
  /** host:port */
  target: value(300),
  /** It takes its turn. */
  healthy: z.boolean(),
  /** Checks that failed in a row. */
  failures: z.int().min(0).max(1e9),
  /** Healthy, or not, for so many ms. */
  ageMs: z.int().min(0).max(1e12),
  /** Of the last check that failed; "" = none has. */
  error: label(HEALTH_ERROR),
});
/** @see targetHealth */
export type TargetHealthReport = z.output<typeof targetHealth>;

/**
 * What an agent tells of its checks of one tunnel or host. Targets that no message told of are healthy; of the others the last one
 * counts.
 */
export const healthMessage = z.object({
  type: z.literal('health'),
  of: z.enum(['tunnel', 'host']),
  id: z.int(),
  /** The checks begin, and nothing of before counts; null = they have ended. Absent = they go on. */
  check: healthSettings.nullable().optional(),
  targets: z.array(targetHealth).max(HEALTH_TARGETS),
});
/** @see healthMessage */
export type HealthMessage = z.output<typeof healthMessage>;
