import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { BackendName } from './backends.ts';
import { messageOf } from './system-error.ts';

const run = promisify(execFile);

/** Timeout of a self-test, in ms. It usually takes a fraction of a second. */
const SELF_TEST_MS = 10_000;

/** The backends that rely on undocumented parts of Node, the fastest first. */
export const TO_TRY = ['captured', 'onread'] as const;

/** Tests undocumented parts of Node in child processes, because a wrong call inside Node ends the whole process. Each backend is tested once. */
export class SelfTests {
  readonly #command: readonly string[];
  readonly #begun = new Map<BackendName, Promise<string | undefined>>();

  /** @param command tests the backend whose name is appended to it, and prints "works" */
  constructor(command: readonly string[]) {
    this.#command = command;
  }

  /** Begins the test that `auto` needs first, so that it runs while this process loads the rest of the program. */
  begin(): void {
    void this.problemOf(TO_TRY[0]);
  }

  /** Why a backend does not work here; undefined = it works. Never rejects. */
  problemOf(name: BackendName): Promise<string | undefined> {
    const begun = this.#begun.get(name) ?? this.#run(name);
    this.#begun.set(name, begun);
    return begun;
  }

  async #run(name: BackendName): Promise<string | undefined> {
    const [program = '', ...args] = this.#command;
    try {
      const said = await run(program, [...args, name], { timeout: SELF_TEST_MS, killSignal: 'SIGKILL' });
      return said.stdout === 'works' ? undefined : 'its self-test said something else';
    } catch (error) {
      // This process may not start child processes (--permission), or the child process failed.
      return messageOf(error).trim();
    }
  }
}
