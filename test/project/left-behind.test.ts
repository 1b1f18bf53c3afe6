import { spawn } from 'node:child_process';
import { chmodSync, readdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { afterEach, expect, test } from '@jest/globals';
import { isShort } from '../support/endurance.ts';
import { abandonedNamespaces, processesOf } from '../support/run-directory.mjs';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const root = path.resolve(import.meta.dirname, '../..');
const directory = temporaryDirectory();
chmodSync(directory, 0o711); // for PostgreSQL's account

const runs: Run[] = [];
afterEach(() => Promise.all(runs.splice(0).map((run) => run.end())));

/** A test run in a process group of its own, whose temporary directory is in `directory`. */
class Run {
  readonly #child;
  readonly exit: Promise<number | null>;
  output = '';
  #heard = (): void => undefined;

  constructor(...args: readonly string[]) {
    const { TEST_POSTGRESQL: _, ...environment } = process.env;
    this.#child = spawn(process.execPath, ['test/tasks.mjs', 'test', ...args], {
      cwd: root,
      detached: true,
      env: { ...environment, TMPDIR: directory },
      stdio: 'pipe',
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
        this.#heard();
      });
    }
    runs.push(this);
    this.exit = new Promise((resolve) => this.#child.on('close', resolve));
  }

  /** Waits until it prints this. @throws {Error} when it ends first */
  async says(text: string): Promise<void> {
    await Promise.race([
      new Promise<void>((resolve) => {
        this.#heard = () => this.output.includes(text) && resolve();
      }),
      this.exit.then(() => {
        throw new Error(`ended without saying ${text}: ${this.output}`);
      }),
    ]);
  }

  /** What Ctrl-C does: interrupts every process of the terminal's foreground group. */
  interrupt(): void {
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGINT');
  }

  /** Ends it in any case. */
  async end(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.interrupt();
    await this.exit;
  }
}

/** The processes, files and network namespaces that are left. */
function left(): string[] {
  return [
    ...processesOf(directory).map(({ command }) => command),
    ...readdirSync(directory),
    ...abandonedNamespaces(), // those of the suites beside this one belong to processes that run
  ];
}

if (!isShort) {
  test('Ctrl-C leaves no process, temporary file, database or network namespace behind', async () => {
    const run = new Run('--testMatch', '**/test/project/left-behind-suites/works.ts', '--verbose=false');
    await run.says('everything has started');
    expect(left().length).toBeGreaterThan(3);
    run.interrupt();
    expect(await run.exit).not.toBe(0);
    expect(left()).toEqual([]);
  });
}

test('a run whose suites pass fails if they leave a process behind, names it and ends it', async () => {
  const run = new Run('--testMatch', '**/test/project/left-behind-suites/leaves.ts');
  expect(await run.exit).toBe(1);
  expect(run.output).toMatch(/The tests passed, but left behind:\n.*process \d+: sleep 600$/m);
  expect(left()).toEqual([]);
});
