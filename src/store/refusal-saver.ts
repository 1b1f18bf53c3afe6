import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { failureNote } from './database-failure.ts';
import type { RefusalBatch, RefusalGain } from './hot/refusals.ts';

/** Refusals go to the database this often, in ms: a crash loses at most as many. */
const SAVE_MS = 5000;

/** What was refused since the last call. */
export interface RefusalSource {
  takeRefusals(): readonly RefusalGain[];
}

/** Where they are stored. */
export interface RefusalStore {
  saveRefusals(batch: RefusalBatch): Promise<void>;
}

/** Saves the refused connections of the engine. A batch that could not be stored is tried again until it is; meanwhile the source continues to count. */
export class RefusalSaver {
  readonly #source: RefusalSource;
  readonly #store: RefusalStore;
  readonly #log: Logger;
  #unsaved: RefusalBatch | undefined;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(source: RefusalSource, store: RefusalStore, log: Logger) {
    this.#source = source;
    this.#store = store;
    this.#log = log;
  }

  start(): void {
    this.#timer = setInterval(() => void this.save(), SAVE_MS);
  }

  /** Saves what was refused until now. A failure is logged. */
  save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#save());
    return this.#saving;
  }

  /** Saves a last time. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.save();
  }

  async #save(): Promise<void> {
    try {
      // First the batch that could not be stored before, as it was.
      if (this.#unsaved) await this.#write(this.#unsaved);
      const gains = this.#source.takeRefusals();
      if (gains.length > 0) await this.#write({ id: randomUUID(), gains });
    } catch (error) {
      this.#log.error(failureNote(error), 'refused connections could not be stored; tried again in 5 s');
    }
  }

  async #write(batch: RefusalBatch): Promise<void> {
    this.#unsaved = batch;
    await this.#store.saveRefusals(batch);
    this.#unsaved = undefined;
  }
}
