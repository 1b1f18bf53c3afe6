import type { TakenRequest } from './conversation.ts';

/** Requests that an origin received, and the callers that wait for the next one. */
export class Taken {
  /** Those that nobody asked for yet, in their order. */
  readonly list: TakenRequest[] = [];
  #wake: () => void = () => undefined;

  add(request: TakenRequest): void {
    this.list.push(request);
    this.#wake();
  }

  /** The next one, when it is there. */
  async next(): Promise<TakenRequest> {
    for (;;) {
      const first = this.list.shift();
      if (first) return first;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
