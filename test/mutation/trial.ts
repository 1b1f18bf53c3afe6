import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { build, type BuildOptions } from 'esbuild';
import { z } from 'zod';
import { bundling } from '../../src/prepare/steps.mjs';
import { mutated, type Mutant } from './operators.ts';
import type { SuiteGraph } from './suites.ts';

/** How suites ended. */
export interface Ended {
  /** The first that failed; undefined = none. */
  readonly failed: string | undefined;
  readonly late: boolean;
}

/** What a suite is without a mutant. */
export interface Sound {
  readonly passes: boolean;
  readonly ms: number;
}

/** Given to each run beyond three times what its suites take without a mutant. */
const MOST_STARTS_MS = 60_000;
/** What suites may take without a mutant. */
const MOST_BASELINE_MS = 1_800_000;

/** A copy of the repository, in which suites run with one mutant after another. */
export class Trial {
  readonly #directory: string;
  readonly #graph: SuiteGraph;
  readonly #sound: Map<string, Sound>;
  #compiledMutant = false;

  /**
   * Makes the copy.
   * @param files of the repository, and what is made from them @param sound what is known of the suites without a mutant, shared by all copies
   */
  constructor(root: string, directory: string, files: readonly string[], graph: SuiteGraph, sound: Map<string, Sound>) {
    this.#directory = directory;
    this.#graph = graph;
    this.#sound = sound;
    rmSync(directory, { recursive: true, force: true });
    for (const file of files) cpSync(path.join(root, file), path.join(directory, file), { recursive: true });
    symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
  }

  /** Runs suites one after the other, until one fails, with a mutant in the program. Suites that fail without it are left out. */
  async run(mutant: Mutant, suites: readonly string[]): Promise<Ended> {
    const unknown = suites.filter((suite) => !this.#sound.has(suite));
    if (unknown.length > 0) await this.#learn(unknown);
    const sound = suites.filter((suite) => this.#sound.get(suite)?.passes);
    if (sound.length === 0) return { failed: undefined, late: false };
    const file = path.join(this.#directory, mutant.file);
    const source = readFileSync(file, 'utf8');
    try {
      writeFileSync(file, mutated(source, mutant));
      if (sound.some((suite) => this.#graph.startsProgram(suite))) {
        this.#compiledMutant = true;
        await this.#compile();
      }
      const usual = sound.reduce((ms, suite) => ms + (this.#sound.get(suite)?.ms ?? 0), 0);
      const { code, output, late } = await this.#jest(sound, ['--bail'], 3 * usual + MOST_STARTS_MS);
      // A mutant that ends the whole run has failed no suite by name.
      return { failed: late || code !== 0 ? /^FAIL (\S+)/m.exec(output)?.[1] ?? 'all' : undefined, late };
    } finally {
      writeFileSync(file, source);
    }
  }

  async #learn(suites: readonly string[]): Promise<void> {
    if (this.#compiledMutant) await this.#compile();
    this.#compiledMutant = false;
    const file = path.join(this.#directory, '.cache', 'mutation.json');
    mkdirSync(path.dirname(file), { recursive: true });
    await this.#jest(suites, ['--json', '--outputFile', file], MOST_BASELINE_MS);
    const { testResults } = report.parse(JSON.parse(readFileSync(file, 'utf8')));
    const results = testResults.map(({ name, status, startTime, endTime }) => ({
      suite: path.relative(this.#directory, name),
      passed: status === 'passed',
      ms: endTime - startTime,
    }));
    for (const suite of suites) {
      const result = results.find((each) => each.suite === suite);
      this.#sound.set(suite, { passes: result?.passed ?? false, ms: result?.ms ?? 0 });
    }
  }

  async #compile(): Promise<void> {
    const dist = path.join(this.#directory, 'dist');
    rmSync(dist, { recursive: true, force: true });
    // What cannot be bundled fails when it is run.
    await build({ ...bundling(dist) as BuildOptions, absWorkingDir: this.#directory, logLevel: 'silent' }).catch(() => undefined);
  }

  async #jest(suites: readonly string[], options: readonly string[], mostMs: number): Promise<{ code: number | null; output: string; late: boolean }> {
    const jest = spawn(process.execPath, ['node_modules/jest/bin/jest.js', '--runInBand', '--forceExit', ...options, '--runTestsByPath', ...suites], {
      cwd: this.#directory,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    running.add(jest.pid);
    let output = '';
    jest.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    let late = false;
    const timeout = setTimeout(() => {
      late = true;
      endGroup(jest.pid);
    }, mostMs);
    const code = await new Promise<number | null>((resolve) => jest.on('close', resolve));
    clearTimeout(timeout);
    // Processes that the suites started.
    endGroup(jest.pid);
    running.delete(jest.pid);
    return { code, output, late };
  }
}

const report = z.object({ testResults: z.array(z.object({ name: z.string(), status: z.string(), startTime: z.number(), endTime: z.number() })) });

const running = new Set<number | undefined>();
process.on('exit', () => running.forEach(endGroup));

/** Ends a run with everything that it started. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
