import type { Metric, Sample, Work } from './works/work.ts';

/** One measurement: its figures, and the share of the machine's processor time that other programs used meanwhile. */
export interface Measured extends Sample {
  readonly background: number;
}

/** The measurements of each side, by its name; the first one is compared with the others. */
export type Samples = ReadonlyMap<string, readonly Measured[]>;

/** What of a work a report needs. */
export type Reported = Pick<Work, 'name' | 'title' | 'metrics'>;

/** A figure of the first side compared with a goal, or with another side's figure. */
export interface Comparison {
  readonly metric: string;
  /** The other side; undefined = the figure itself is compared with the goal. */
  readonly side?: string;
  /** The figure, or how many times the other side's it is. */
  readonly value: number;
  /** At least that much when more is better, else at most; undefined = reported only. */
  readonly goal?: number;
  readonly reached?: boolean;
}

/** The middle value; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

/** What was measured of one work, for people: a line for each side, and how the first one compares. */
export function report({ title, metrics }: Reported, samples: Samples, comparisons: readonly Comparison[]): string {
  const head = ['', ...metrics.map(({ name }) => name)];
  const rows = Array.from(samples, ([side, list]) => [side, ...metrics.map((metric) => figure(metric, valuesOf(metric, list)))]);
  const errors = Array.from(samples, ([side, list]) => list.flatMap((sample) => sample.errors === '' ? [] : [`  ERRORS, ${side}: ${sample.errors}`])).flat();
  const background = Array.from(samples.values(), (list) => list.map((sample) => sample.background * 100)).flat();
  const percents = `other programs used ${median(background).toFixed(1)}% of the machine (at most ${Math.max(...background).toFixed(1)}%)`;
  return [title, ...table([head, ...rows]), ...comparisons.map((each) => sentence(each, metrics)), ...errors, `  ${percents}`, ''].join('\n');
}

/** How the first side compares with the goals and with the others. @param former the first of the other checkouts, which has goals of its own */
export function compare({ metrics }: Reported, samples: Samples, former?: string): Comparison[] {
  return metrics.flatMap((metric) => {
    const [own, ...others] = Array.from(samples, ([side, list]) => ({ side, value: median(valuesOf(metric, list)) }));
    if (!own) return [];
    const judged = (value: number, goal: number | undefined): Pick<Comparison, 'value' | 'goal' | 'reached'> =>
      goal === undefined ? { value } : { value, goal, reached: metric.more ? value >= goal : value <= goal };
    const itself = metric.limit === undefined ? [] : [{ metric: metric.name, ...judged(own.value, metric.limit) }];
    if (metric.alone === true) return itself;
    return [
      ...itself,
      ...others.filter(({ value }) => !Number.isNaN(value)).map(({ side, value }) => ({
        metric: metric.name,
        side,
        ...judged(own.value / value, side === former ? metric.former : metric.goals?.[side]),
      })),
    ];
  });
}

/** The figures of one metric. */
export function valuesOf({ name }: Metric, list: readonly Sample[]): number[] {
  return list.map(({ figures }) => figures[name] ?? NaN);
}

function figure({ digits }: Metric, values: readonly number[]): string {
  if (values.every(Number.isNaN)) return '-';
  const text = (value: number): string => value.toFixed(digits);
  const middle = text(median(values));
  return values.length === 1 ? middle : `${middle} (${text(Math.min(...values))} - ${text(Math.max(...values))})`;
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) => `  ${row.map((cell, column) => column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)).join('   ')}`);
}

/** One comparison as a sentence. */
export function sentence({ metric, side, value, goal, reached }: Comparison, metrics: readonly Metric[]): string {
  const ratio = side === undefined ? '' : ` ${value.toFixed(2)} of ${side}`;
  const bound = metrics.find(({ name }) => name === metric)?.more === true ? 'at least' : 'at most';
  const verdict = goal === undefined ? '' : `${side === undefined ? ' ' : ', '}goal ${bound} ${goal}: ${reached === true ? 'reached' : 'OPEN'}`;
  return `  ${metric}:${ratio}${verdict}`;
}
