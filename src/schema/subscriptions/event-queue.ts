import { AditError } from '../errors.ts';

/** The queue of one subscriber's events. Iteration ends when either side closes it. */
export class EventQueue<T> implements AsyncIterableIterator<T> {
  readonly #most: number;
  readonly #onClose: () => void;
  readonly #waiting: T[] = [];
  #take: { resolve(result: IteratorResult<T, undefined>): void; reject(error: Error): void } | undefined;
  #failure: Error | undefined;
  #closed = false;
  /** Called when it is closed because of too many events: the subscriber may not be reading at all. */
  onOverflow: (() => void) | undefined;

  /** @param most maximum queued events; a subscriber with more is disconnected */
  constructor(most: number, onClose: () => void) {
    this.#most = most;
    this.#onClose = onClose;
  }

  push(event: T): void {
    if (this.#closed) return;
    const take = this.#take;
    this.#take = undefined;
    if (take) take.resolve({ value: event, done: false });
    else if (this.#waiting.length < this.#most) this.#waiting.push(event);
    else {
      this.close(new AditError('SUBSCRIBER_TOO_SLOW'));
      this.onOverflow?.();
    }
  }

  /** Closes the queue and discards its events. @param failure the error for the subscriber; absent = none */
  close(failure?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#waiting.length = 0;
    const take = this.#take;
    this.#take = undefined;
    if (take && failure) take.reject(failure);
    else if (take) take.resolve({ value: undefined, done: true });
    else this.#failure = failure;
    this.#onClose();
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const event = this.#waiting.shift();
    if (event !== undefined) return Promise.resolve({ value: event, done: false });
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) return Promise.reject(failure);
    if (this.#closed) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.#take = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.close();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
