import { readFileSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type { BackendName } from '../wire/backends.ts';
import { makeRuntimeDirectory } from './status/runtime-directory.ts';

/**
 * Remembers which socket backends have passed their self-test with this Node, in the user's runtime directory, which is empty after a boot. An agent that is started
 * again is ready in less than half the time.
 */
export class PassedSelfTests {
  readonly #directory: string;
  /** All that the result may depend on. */
  readonly #tested: string;

  /** @param version of this program */
  constructor(directory: string, version: string) {
    this.#directory = directory;
    const { size, mtimeMs } = statSync(process.execPath);
    this.#tested = [version, process.version, process.arch, process.execPath, size, mtimeMs, os.release()].join('\n');
  }

  /** Whether a backend has passed. */
  has(name: BackendName): boolean {
    try {
      makeRuntimeDirectory(this.#directory);
      return readFileSync(this.#file(name), 'utf8') === this.#tested;
    } catch {
      return false; // It is tested again. `serveStatus` reports a directory that can't be used.
    }
  }

  /** Remembers that a backend has passed. */
  add(name: BackendName): void {
    try {
      makeRuntimeDirectory(this.#directory);
      writeFileSync(this.#file(name), this.#tested, { mode: 0o600 });
    } catch {
      // The next start tests again.
    }
  }

  #file(name: BackendName): string {
    return path.join(this.#directory, `sockets-${name}`);
  }
}
