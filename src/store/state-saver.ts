import type { Logger } from 'pino';
import { BadRecords, halvesOf, namesOf } from './bad-records.ts';
import type { CounterBatch } from './hot/counters.ts';
import type { Store } from './store.ts';
import { failureNote } from './database-failure.ts';

/** Counters go to the database this often, in ms: a crash loses at most as much. */
const SAVE_MS = 5000;
/** How old the stored state may be for a list that is sorted by it, in ms. */
const FRESH_MS = 1000;

/** The source of the state to save. */
export interface StateSource {
  /** What changed since the last call. */
  takeDirty(): Promise<CounterBatch>;
  /** The batch was not stored: the next batch must contain it again. */
  restoreDirty(batch: CounterBatch): Promise<void>;
}

/** Saves the running state of the engine, regularly and on demand. */
export class StateSaver {
  readonly #source: StateSource;
  readonly #store: Pick<Store, 'saveCounters' | 'tryWrite'>;
  readonly #log: Logger;
  readonly #bad = new BadRecords();
  /** Records that were reset since the current batch was collected. */
  readonly #reset = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  /** By the monotonic clock: when the batch that was last written, or is being written, was collected. */
  #takenAt = -Infinity;

  constructor(source: StateSource, store: Pick<Store, 'saveCounters' | 'tryWrite'>, log: Logger) {
    this.#source = source;
    this.#store = store;
    this.#log = log;
  }

  start(): void {
    this.#timer = setInterval(() => void this.save(), SAVE_MS);
  }

  /** Resolves when the stored state is at most a second old; any number of callers cause one write a second. */
  fresh(): Promise<void> {
    return performance.now() - this.#takenAt < FRESH_MS ? this.#saving : this.save();
  }

  /** Saves the current state. A failure is logged, and the batch is saved again next time. */
  save(): Promise<void> {
    this.#takenAt = performance.now();
    this.#saving = this.#saving.then(() => this.#write());
    return this.#saving;
  }

  /** A record's traffic was reset, in its row and in the source: counters collected earlier must not overwrite it. */
  trafficReset(resource: 'client' | 'tunnel' | 'host', id: number): void {
    this.#reset.add(`${resource} ${id}`);
  }

  /** Saves a last time. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.save();
  }

  async #write(): Promise<void> {
    try {
      this.#reset.clear();
      const batch = await this.#source.takeDirty();
      try {
        const { others, bad } = this.#bad.apart(batch);
        for (const part of [others, ...bad]) await this.#save(part);
        this.#bad.tell(this.#log);
      } catch (error) {
        await this.#source.restoreDirty(batch);
        throw error;
      }
    } catch (error) {
      this.#log.error(failureNote(error), 'counters could not be stored; tried again in 5 s');
    }
  }

  /**
   * Stores a batch. If that fails although the database works, a record is the cause: each half is stored separately, until the bad record
   * is isolated, so that it affects no others.
   * @throws the database's error if the database is the cause
   */
  async #save(batch: CounterBatch): Promise<void> {
    try {
      await this.#store.saveCounters(batch, (resource, id) => !this.#reset.has(`${resource} ${id}`));
      this.#bad.stored(batch);
    } catch (error) {
      await this.#store.tryWrite();
      const halves = halvesOf(batch);
      if (halves.length === 0) this.#bad.add(namesOf(batch), error);
      for (const half of halves) await this.#save(half);
    }
  }
}
