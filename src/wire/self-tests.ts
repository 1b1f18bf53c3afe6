import { promisify } from 'node:util';
import type { BackendName } from './backends.ts';
import { messageOf } from './system-error.ts';

/** Timeout of a self-test, in ms. It usually takes a fraction of a second. */
const SELF_TEST_MS = 10_000;

/** The backends that rely on undocumented parts of Node, the fastest first. */
export const TO_TRY = ['captured', 'onread'] as const;

/** Which backends have passed before. */
export interface PassedTests {
  has(name: BackendName): boolean;
  add(name: BackendName): unknown;
}

/** Tests undocumented parts of Node in child processes, because a wrong call inside Node ends the whole process. Each backend is tested once. */
export class SelfTests {
  readonly #command: readonly string[];
  readonly #passed: PassedTests | undefined;
  readonly #begun = new Map<BackendName, Promise<string | undefined>>();

  /**
   * @param command tests the backend whose name is appended to it, and prints "works"
   * @param passed these are not tested again
   */
  constructor(command: readonly string[], passed?: PassedTests) {
    this.#command = command;
    this.#passed = passed;
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
    if (this.#passed?.has(name)) return undefined;
    const [program = '', ...args] = this.#command;
    const { execFile } = await import('node:child_process');
    try {
      const said = await promisify(execFile)(program, [...args, name], { timeout: SELF_TEST_MS, killSignal: 'SIGKILL' });
      if (said.stdout !== 'works') return 'its self-test said something else';
      this.#passed?.add(name);
      return undefined;
    } catch (error) {
      // This process may not start child processes (--permission), or the child process failed.
      return messageOf(error).trim();
    }
  }
}
