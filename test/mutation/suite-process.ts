import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';

/** How a suite ended. */
export interface Ended {
  readonly passed: boolean;
  /** What failed first. */
  readonly failure?: string | undefined;
  readonly ms: number;
  /** CPU time of its own process. */
  readonly cpuMs: number;
  /** By the number of a mutant: 1 if its code was run. */
  readonly reached: Uint8Array;
}

/** What a test may take: with a mutant, many wait for what never comes. */
const TEST_TIMEOUT_MS = 20_000;

/** Runs suites of the copied program, one after the other, in one process that has loaded jest once (runner.mjs). */
export class SuiteProcess {
  readonly #directory: string;
  #jest: ChildProcess | undefined;
  #totalCpuMs = 0;
  #endedCpuMs = 0;

  /** @param directory of the copy */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Runs a suite until its first failure.
   * @param mutant the number of the one that is on, -1 = none
   * @returns 'late' if it took longer than `mostMs`, 'crashed' if it ended the process
   */
  async run(suite: string, mutant: number, mostMs: number): Promise<Ended | 'late' | 'crashed'> {
    const jest = this.#jest ??= this.#start();
    const timeout = new AbortController();
    jest.send({ suite: path.join(this.#directory, suite), mutant });
    const ended = await Promise.race([
      once(jest, 'message', { signal: timeout.signal }).then(([answer]) => answerFormat.parse(answer), () => 'late' as const),
      once(jest, 'exit', { signal: timeout.signal }).then(() => 'crashed' as const, () => 'late' as const),
      wait(mostMs, 'late' as const, { signal: timeout.signal }).catch(() => 'late' as const),
    ]);
    timeout.abort();
    if (typeof ended === 'string') this.end();
    else this.#totalCpuMs = ended.totalCpuMs;
    return ended;
  }

  /** CPU time of all processes so far, without what their suites started. */
  get usedMs(): number {
    return this.#endedCpuMs + this.#totalCpuMs;
  }

  /** Ends the process, with all that its suites started; the next run starts another. */
  end(): void {
    endGroup(this.#jest?.pid);
    this.#endedCpuMs += this.#totalCpuMs;
    this.#totalCpuMs = 0;
    this.#jest = undefined;
  }

  #start(): ChildProcess {
    const jest = spawn(process.execPath, [
      'node_modules/jest/bin/jest.js',
      '--runInBand',
      `--env=${path.join(this.#directory, 'test/mutation/environment.mjs')}`,
      `--runner=${path.join(this.#directory, 'test/mutation/runner.mjs')}`,
      `--testTimeout=${TEST_TIMEOUT_MS}`,
      'test/',
    ], { cwd: this.#directory, stdio: ['ignore', 'ignore', 'ignore', 'ipc'], detached: true });
    running.add(jest.pid);
    jest.on('exit', () => endGroup(jest.pid));
    return jest;
  }
}

const answerFormat = z.object({
  passed: z.boolean(),
  failure: z.string().optional(),
  ms: z.number(),
  cpuMs: z.number(),
  totalCpuMs: z.number(),
  reached: z.base64().transform((text) => Buffer.from(text, 'base64')),
});

const running = new Set<number | undefined>();
process.on('exit', () => running.forEach(endGroup));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

function endGroup(pid: number | undefined): void {
  if (pid === undefined || !running.delete(pid)) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
