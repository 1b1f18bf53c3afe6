import { unwatchFile, watchFile } from 'node:fs';

/** How often the files are checked, in ms. */
const LOOK_MS = 500;

/**
 * Calls `changed` when one of the files was changed, replaced, deleted or created. Polls them, because that works
 * everywhere: on network drives, and when an editor replaces the old file by a new one.
 */
export class WatchedFiles {
  readonly #changed: () => void;
  #files: ReadonlySet<string> = new Set();

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Replaces the list of watched files. */
  set(files: readonly string[]): void {
    const wanted = new Set(files);
    for (const file of this.#files) if (!wanted.has(file)) unwatchFile(file, this.#changed);
    for (const file of wanted) if (!this.#files.has(file)) watchFile(file, { interval: LOOK_MS }, this.#changed);
    this.#files = wanted;
  }
}
