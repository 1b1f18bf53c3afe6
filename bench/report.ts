import type { Metric, Sample, Work } from './works/work.ts';

/** The samples of each side, by its name; the first one is compared with the others. */
export type Samples = ReadonlyMap<string, readonly Sample[]>;

/** The middle value; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

/** What was measured of one work, for people: a line for each side, and how the first one compares. */
export function report({ title, metrics }: Pick<Work, 'title' | 'metrics'>, samples: Samples): string {
  const head = ['', ...metrics.map(({ name }) => name)];
  const rows = Array.from(samples, ([side, list]) => [side, ...metrics.map((metric) => figure(metric, valuesOf(metric, list)))]);
  const errors = Array.from(samples, ([side, list]) => list.flatMap((sample) => sample.errors === '' ? [] : [`  ERRORS, ${side}: ${sample.errors}`])).flat();
  return [title, ...table([head, ...rows]), ...metrics.flatMap((metric) => comparisons(metric, samples)), ...errors, ''].join('\n');
}

function valuesOf({ name }: Metric, list: readonly Sample[]): number[] {
  return list.map(({ figures }) => figures[name] ?? NaN);
}

function figure({ digits }: Metric, values: readonly number[]): string {
  const text = (value: number): string => value.toFixed(digits);
  const middle = text(median(values));
  return values.length === 1 ? middle : `${middle} (${text(Math.min(...values))} - ${text(Math.max(...values))})`;
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) => `  ${row.map((cell, column) => column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)).join('   ')}`);
}

/** Ratios of the medians, with the goal that each one has. */
function comparisons(metric: Metric, samples: Samples): string[] {
  const [own, ...others] = Array.from(samples, ([side, list]) => ({ side, value: median(valuesOf(metric, list)) }));
  if (!own) return [];
  const limit = metric.limit === undefined ? [] : [`  ${metric.name}: ${verdict(metric.more ? own.value >= metric.limit : own.value <= metric.limit, `at ${metric.more ? 'least' : 'most'} ${metric.limit}`)}`];
  return [...limit, ...others.map(({ side, value }) => {
    const ratio = own.value / value;
    const goal = metric.goals?.[side];
    const reached = goal === undefined ? '' : verdict(metric.more ? ratio >= goal : ratio <= goal, `at ${metric.more ? 'least' : 'most'} ${goal}`);
    return `  ${metric.name}: ${ratio.toFixed(2)} of ${side}${reached === '' ? '' : `, ${reached}`}`;
  })];
}

function verdict(reached: boolean, goal: string): string {
  return `goal ${goal}: ${reached ? 'reached' : 'OPEN'}`;
}
