import type { ResponseHead } from './head.ts';
import { HttpSyntaxError } from './syntax-error.ts';

/** Interim responses (1xx) that a target may send before its response, and bytes that they may have together. */
const MOST = { responses: 16, bytes: 64 * 1024 } as const;

/** Limits the interim responses to one request: a target could send any number. */
export class InterimLimit {
  #responses = 0;
  #bytes = 0;

  /** @throws {HttpSyntaxError} when it is one too many */
  count({ length }: ResponseHead): void {
    this.#responses++;
    this.#bytes += length;
    if (this.#responses > MOST.responses || this.#bytes > MOST.bytes) throw new HttpSyntaxError('too many interim responses');
  }
}
