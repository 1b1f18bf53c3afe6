import { unwatchFile, watchFile } from 'node:fs';

/** How often the files are looked at, in ms. */
const LOOK_MS = 500;

/**
 * Calls `changed` when one of some files is another one: changed, replaced, deleted or there again. Looks at them instead of being told, as
 * that works everywhere, also on network drives, and also when an editor puts a new file in the old one's place.
 */
export class WatchedFiles {
  readonly #changed: () => void;
  #files: ReadonlySet<string> = new Set();

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Looks at these from now on and at no others. */
  set(files: readonly string[]): void {
    const wanted = new Set(files);
    for (const file of this.#files) if (!wanted.has(file)) unwatchFile(file, this.#changed);
    for (const file of wanted) if (!this.#files.has(file)) watchFile(file, { interval: LOOK_MS }, this.#changed);
    this.#files = wanted;
  }
}
