import type { Program } from '../../test/support/debian-packages.ts';
import type { RunningSide, Way } from '../sides/side.ts';
import type { Targets } from '../targets.ts';

/** A figure that a work yields. */
export interface Metric {
  readonly name: string;
  readonly digits: number;
  /** Whether more is better. */
  readonly more: boolean;
  /** What Adit's figure is to be, as a multiple of another side's: at least when more is better, else at most. */
  readonly goals?: Readonly<Record<string, number>>;
  /** The same compared with the first checkout that --against names. */
  readonly former?: number;
  /** Not compared with other sides. */
  readonly alone?: boolean;
  /** What Adit's own figure is to be: at least when more is better, else at most. */
  readonly limit?: number;
}

/** The figures of one measurement, by the metrics' names. */
export interface Sample {
  readonly figures: Readonly<Record<string, number>>;
  /** "" = all went well. */
  readonly errors: string;
}

/** Something that every side is made to do. */
export interface Work {
  /** How --only names it. */
  readonly name: string;
  /** One line for the report. */
  readonly title: string;
  readonly programs: readonly Program[];
  /** Each measurement wants the side just started. */
  readonly fresh: boolean;
  /** Sides that have no such port are left out. */
  readonly way: Way;
  readonly metrics: readonly Metric[];
  /** @param seconds how long to measure, about */
  measure(side: RunningSide, seconds: number, targets: Targets): Promise<Sample>;
}
