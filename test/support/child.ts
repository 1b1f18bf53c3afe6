import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/** How a child process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const living = new Set<Child>();
// Under jest suites call endChildren.
if (process.env['JEST_WORKER_ID'] === undefined) {
  process.on('exit', () => {
    for (const child of living) child.kill('SIGKILL');
  });
}

/** Kills every child that still lives, and waits until all are gone. */
export async function endChildren(): Promise<void> {
  await Promise.all(Array.from(living, (child) => child.end()));
}

/** As {@link endChildren}, but some go on. */
export async function endOtherChildren(kept: readonly Child[]): Promise<void> {
  await Promise.all(Array.from(living).filter((child) => !kept.includes(child)).map((child) => child.end()));
}

/** A program that runs beside this one, with what it prints. None outlives this process. */
export class Child {
  readonly pid: number;
  /** Resolves when it has ended and its output is complete. */
  readonly exited: Promise<Exit>;
  readonly #command: string;
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();
  readonly #onOutput: ((text: string) => void) | undefined;
  /** Under jest what it prints is also here, until the suite has passed. */
  readonly #log: string | undefined;
  #output = '';
  #exit: Exit | undefined;

  /**
   * Starts a program.
   * @param environment added to this process's own, of which what is ours (ADIT_...) is left out: it isn't meant for the program
   * @param onOutput called with each piece that it prints
   * @throws {Error} when it cannot be started
   */
  constructor(command: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}, onOutput?: (text: string) => void) {
    this.#command = [command, ...args].join(' ');
    this.#onOutput = onOutput;
    this.#child = spawn(command, args, { env: { ...others(), ...environment }, stdio: 'pipe' });
    const { pid } = this.#child;
    if (pid === undefined) {
      this.#child.on('error', () => undefined); // thrown here
      throw new Error(`cannot start ${this.#command}`);
    }
    this.pid = pid;
    this.#log = logFile(pid, this.#command);
    living.add(this);
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => this.#said(text));
    this.exited = new Promise((resolve) => {
      this.#child.on('close', (code, signal) => {
        this.#exit = { code, signal };
        living.delete(this);
        this.#wake();
        resolve(this.#exit);
      });
    });
  }

  /** Everything it has printed, stdout and stderr together. */
  get output(): string {
    return this.#output;
  }

  /** Whether it has ended. */
  get over(): boolean {
    return this.#exit !== undefined;
  }

  #said(text: string): void {
    this.#output += text;
    this.#onOutput?.(text);
    if (this.#log !== undefined) appendFileSync(this.#log, text);
    this.#wake();
  }

  #wake(): void {
    for (const look of this.#waiting) look();
  }

  /**
   * Waits until its output, from character `from` on, matches.
   * @throws {Error} with the output when it ends first
   */
  says(pattern: RegExp, from = 0): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(this.#output.slice(from));
        if (!found && !this.#exit) return;
        this.#waiting.delete(look);
        if (found) resolve(found);
        else reject(new Error(`${this.#command} ended (${JSON.stringify(this.#exit)}) without saying ${String(pattern)}:\n${this.#output}`));
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Types into its stdin. */
  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Sends a signal, if it still lives. */
  kill(signal: NodeJS.Signals): void {
    if (!this.#exit) this.#child.kill(signal);
  }

  /** Kills it and waits until it is gone. */
  async end(): Promise<void> {
    this.kill('SIGKILL');
    await this.exited;
  }
}

/** Begins the log of a process in the directory of the suite (test/support/runtime/environment.mjs); undefined = no suite runs. */
function logFile(pid: number, command: string): string | undefined {
  const directory = process.env['TEST_LOGS'];
  if (directory === undefined) return undefined;
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, `${pid}.log`);
  writeFileSync(file, `${command}\n\n`);
  return file;
}

function others(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ADIT_')));
}
