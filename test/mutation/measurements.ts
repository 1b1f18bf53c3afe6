import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Mutant } from './operators.ts';
import type { SuiteProcess } from './suite-process.ts';
import type { SuiteGraph } from './suites.ts';

/** How a suite runs without a mutant. */
export interface Measurement {
  /** Of all files that the suite runs: it is measured again when one of them changes. */
  readonly key: string;
  readonly passes: boolean;
  readonly ms: number;
  readonly cpuMs: number;
  /** By file: the places, among the mutants of the file, of those whose code it runs. */
  readonly reaches: Readonly<Record<string, readonly number[]>>;
}

/** What a suite may take without a mutant. */
const MOST_MS = 300_000;

/** What each suite takes and reaches in its own process: measured when it is first needed, and kept for later runs. */
export class Measurements {
  readonly #file: string;
  readonly #root: string;
  readonly #graph: SuiteGraph;
  readonly #mutants: readonly Mutant[];
  /** The number of the first mutant of each file. */
  readonly #firsts = new Map<string, number>();
  readonly #known: Map<string, Measurement>;
  readonly #measuring = new Map<string, Promise<Measurement>>();
  readonly #hashes = new Map<string, string>();

  /** @param file where they are kept @param mutants all of the program's */
  constructor(file: string, root: string, graph: SuiteGraph, mutants: readonly Mutant[]) {
    this.#file = file;
    this.#root = root;
    this.#graph = graph;
    this.#mutants = mutants;
    for (const [number, mutant] of mutants.entries()) if (!this.#firsts.has(mutant.file)) this.#firsts.set(mutant.file, number);
    // Those of another version of this tool are made again.
    const kept = existsSync(file) ? format.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data ?? {} : {};
    this.#known = new Map(Object.entries(kept).filter(([suite, { key }]) => key === this.#keyOf(suite)));
  }

  /** @returns of a suite, which runs in `suites` unless it is known or being measured */
  of(suite: string, suites: SuiteProcess): Promise<Measurement> {
    const known = this.#known.get(suite);
    if (known) return Promise.resolve(known);
    const measuring = this.#measuring.get(suite) ?? this.#measure(suite, suites).finally(() => this.#measuring.delete(suite));
    this.#measuring.set(suite, measuring);
    return measuring;
  }

  /** Whether a suite was measured. */
  has(suite: string): boolean {
    return this.#known.has(suite);
  }

  /** Suites that were measured, the cheapest first, then the others in their order: each is measured only when its turn comes. */
  knownFirst(suites: readonly string[]): string[] {
    const cost = (suite: string): number => this.#known.get(suite)?.cpuMs ?? Number.MAX_VALUE;
    return suites.toSorted((a, b) => cost(a) - cost(b));
  }

  /** A suite has failed without a mutant. */
  distrust(suite: string): void {
    const measured = this.#known.get(suite);
    if (measured) this.#known.set(suite, { ...measured, passes: false });
  }

  /** Suites that fail without a mutant. */
  failing(): string[] {
    return Array.from(this.#known).filter(([, { passes }]) => !passes).map(([suite]) => suite);
  }

  /** @param number of the mutant */
  reaches({ reaches }: Measurement, number: number): boolean {
    const file = this.#mutants[number]?.file ?? '';
    return reaches[file]?.includes(number - (this.#firsts.get(file) ?? 0)) ?? false;
  }

  async #measure(suite: string, suites: SuiteProcess): Promise<Measurement> {
    let ended = await suites.run(suite, -1, MOST_MS);
    if (typeof ended === 'string' || !ended.passed) {
      // Something that a mutant left behind may have failed it.
      suites.end();
      ended = await suites.run(suite, -1, MOST_MS);
    }
    const measured = typeof ended === 'string'
      ? { key: this.#keyOf(suite), passes: false, ms: MOST_MS, cpuMs: MOST_MS, reaches: {} }
      : { key: this.#keyOf(suite), passes: ended.passed, ms: ended.ms, cpuMs: ended.cpuMs, reaches: this.#placesOf(ended.reached) };
    this.#known.set(suite, measured);
    // One that fails may pass in the next run.
    writeFileSync(this.#file, JSON.stringify(Object.fromEntries(Array.from(this.#known).filter(([, { passes }]) => passes))));
    return measured;
  }

  #placesOf(reached: Uint8Array): Record<string, number[]> {
    const reaches: Record<string, number[]> = {};
    for (const [number, { file }] of this.#mutants.entries()) {
      if (reached[number] === 1) (reaches[file] ??= []).push(number - (this.#firsts.get(file) ?? 0));
    }
    return reaches;
  }

  #keyOf(suite: string): string {
    const files = ['test/mutation/operators.ts', 'test/mutation/mixups.ts', ...this.#graph.filesOf(suite).toSorted()];
    return hashOf(files.map((file) => this.#hashOf(file)).join(''));
  }

  #hashOf(file: string): string {
    const target = path.join(this.#root, file);
    const hash = this.#hashes.get(file) ?? (existsSync(target) ? hashOf(readFileSync(target, 'utf8')) : '');
    this.#hashes.set(file, hash);
    return hash;
  }
}

const format = z.record(
  z.string(),
  z.object({ key: z.string(), passes: z.boolean(), ms: z.number(), cpuMs: z.number(), reaches: z.record(z.string(), z.array(z.number())) }),
);

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
