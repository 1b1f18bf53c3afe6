import type { Logger } from 'pino';
import { NotFollowedError } from './change-log.ts';
import { BadRecords } from './bad-records.ts';
import { halvesOf, merged, nameOf, namesOf, NOTHING, only } from './counter-batch.ts';
import type { CounterKind } from './hot/counter-table.ts';
import type { CounterBatch } from './hot/counters.ts';
import type { Store } from './store.ts';
import { failureNote } from './database-failure.ts';

/** Counters go to the database this often, in ms: a crash loses at most as much. */
const SAVE_MS = 5000;
/** Rows that lists are sorted by get the bytes this often, in ms: it takes many times as long as storing the counters alone. */
const ROWS_MS = 60_000;
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
  /** Records whose rows do not have the last bytes and rates yet, by their names. */
  #behind: CounterBatch = NOTHING;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  /** By the monotonic clock: when the state was collected that the rows have, or are about to have. */
  #rowsAt = -Infinity;

  constructor(source: StateSource, store: Pick<Store, 'saveCounters' | 'tryWrite'>, log: Logger) {
    this.#source = source;
    this.#store = store;
    this.#log = log;
  }

  start(): void {
    this.#timer = setInterval(() => void this.save(), SAVE_MS);
  }

  /** Resolves when the state in the rows is at most a second old; any number of callers cause one write a second. */
  fresh(): Promise<void> {
    return performance.now() - this.#rowsAt < FRESH_MS ? this.#saving : this.#save(true);
  }

  /** Saves the current state. A failure is logged, and the batch is saved again next time. */
  save(): Promise<void> {
    return this.#save(performance.now() - this.#rowsAt >= ROWS_MS);
  }

  /** A record's traffic was reset, in its row and in the source: counters collected earlier must not overwrite it. */
  trafficReset(resource: CounterKind, id: number): void {
    this.#reset.add(nameOf(resource, id));
  }

  /** Saves a last time. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#save(true);
  }

  /** @param rows whether the rows of the records get everything */
  #save(rows: boolean): Promise<void> {
    if (rows) this.#rowsAt = performance.now();
    this.#saving = this.#saving.then(() => this.#write(rows));
    return this.#saving;
  }

  async #write(rows: boolean): Promise<void> {
    try {
      const reset = new Set(this.#reset);
      this.#reset.clear();
      const batch = await this.#source.takeDirty();
      // What was collected before a reset is outdated; the source has the record in this batch or the next one.
      this.#behind = merged(only(this.#behind, (name) => !reset.has(name)), batch);
      try {
        const { others, bad } = this.#bad.apart(rows ? this.#behind : batch);
        for (const part of [others, ...bad]) await this.#put(part, rows);
        if (rows) this.#behind = NOTHING;
        this.#bad.tell(this.#log);
      } catch (error) {
        await this.#source.restoreDirty(batch);
        throw error;
      }
    } catch (error) {
      // Nothing is lost: the reset is applied within a second, and the batch is stored next time.
      if (error instanceof NotFollowedError) return;
      this.#log.error(failureNote(error), 'counters could not be stored; tried again in 5 s');
    }
  }

  /**
   * Stores a batch. If that fails although the database works, a record is the cause: each half is stored separately, until the bad record
   * is isolated, so that it affects no others.
   * @throws the database's error if the database is the cause
   */
  async #put(batch: CounterBatch, rows: boolean): Promise<void> {
    try {
      await this.#store.saveCounters(batch, { rows, isCurrent: (resource, id) => !this.#reset.has(nameOf(resource, id)) });
      if (rows) this.#bad.stored(batch);
    } catch (error) {
      if (error instanceof NotFollowedError) throw error;
      await this.#store.tryWrite();
      const halves = halvesOf(batch);
      if (halves.length === 0) this.#bad.add(namesOf(batch), error);
      for (const half of halves) await this.#put(half, rows);
    }
  }
}
