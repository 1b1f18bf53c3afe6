import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { compare, median, report, sentence, valuesOf, type Reported, type Samples } from './report.ts';
import { nameOf } from './sides/adit.ts';
import { cpuSource } from './usage.ts';

const ownRoot = path.resolve(import.meta.dirname, '..');

/** How a run was made. */
export interface RunOptions {
  /** `tunnel` or `api`: part of the file's name. */
  readonly kind: string;
  readonly rounds: number;
  readonly seconds: number;
  /** Where the figures go; left out = a new file in .cache/bench. */
  readonly out?: string;
  /** The name of the first of the other checkouts. */
  readonly former?: string;
}

/** What a run has measured: printed as it comes, and kept for a file of all figures. */
export class Results {
  readonly #options: RunOptions;
  readonly #start = new Date();
  readonly #load = loadavg();
  readonly #rows: object[] = [];
  readonly #open: string[] = [];
  #goals = 0;

  constructor(options: RunOptions) {
    this.#options = options;
    const { rounds, seconds } = options;
    this.say(`Adit ${nameOf(ownRoot)}, Node ${process.version}; load of the machine before: ${this.#load.map((load) => load.toFixed(2)).join(' ')}`);
    this.say(`CPU from ${cpuSource}`);
    this.say(`${rounds} rounds of ${seconds} s after one to warm up; median (least - most)\n`);
  }

  /** Prints a line. */
  say(line: string): void {
    process.stdout.write(`${line}\n`);
  }

  /** Prints what was measured of a work, and keeps it. */
  add(work: Reported, samples: Samples): void {
    const comparisons = compare(work, samples, this.#options.former);
    this.say(report(work, samples, comparisons));
    const judged = comparisons.filter(({ reached }) => reached !== undefined);
    this.#goals += judged.length;
    this.#open.push(...judged.filter(({ reached }) => reached === false).map((each) => `  ${work.name}:${sentence(each, work.metrics).slice(1)}`));
    const sides = Array.from(samples, ([side, list]) => ({
      side,
      medians: Object.fromEntries(work.metrics.map((metric) => [metric.name, median(valuesOf(metric, list))])),
      samples: list,
    }));
    this.#rows.push({ name: work.name, title: work.title, sides, comparisons });
  }

  /** Prints which goals are open and how quiet it was, and writes the file. */
  finish(quiet: string): void {
    const { kind, rounds, seconds, out = path.join(ownRoot, '.cache', 'bench', `${kind}-${this.#start.toISOString().replaceAll(':', '-')}.json`) } =
      this.#options;
    mkdirSync(path.dirname(out), { recursive: true });
    writeFileSync(
      out,
      `${
        JSON.stringify(
          {
            kind,
            program: nameOf(ownRoot),
            start: this.#start,
            end: new Date(),
            rounds,
            seconds,
            quiet,
            cpuSource,
            machine: { cores: availableParallelism(), processor: cpus()[0]?.model, kernel: release(), node: process.version, loadBefore: this.#load },
            rows: this.#rows,
          },
          undefined,
          2,
        )
      }\n`,
    );
    this.say(`${this.#goals - this.#open.length} of ${this.#goals} goals reached${this.#open.length === 0 ? '' : '; open:'}`);
    for (const line of this.#open) this.say(line);
    this.say(`${quiet}\nfigures: ${out}`);
  }
}
