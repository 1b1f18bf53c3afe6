/** Seconds between two looks at a value. */
const LOOK_TICKS = 5;
/** Seconds after a change of a record in which each tick looks: until the engine's state is stored, and what was read before is no longer used. */
const AFTER_TICKS = 8;

/** Decides when a value is looked at whose changes nobody reports, and whether it has changed. */
export class ChangeWatch {
  #ticks = 0;
  #until = 0;
  #last = '';

  /** A record that the value may depend on has changed. */
  recordChanged(): void {
    this.#until = this.#ticks + AFTER_TICKS;
  }

  /** Called once a second. @returns whether to look at the value now */
  isDue(): boolean {
    return ++this.#ticks % LOOK_TICKS === 0 || this.#ticks <= this.#until;
  }

  /** Whether a value differs from the one before. */
  isNew(value: unknown): boolean {
    const text = JSON.stringify(value);
    const differs = text !== this.#last;
    this.#last = text;
    return differs;
  }
}
