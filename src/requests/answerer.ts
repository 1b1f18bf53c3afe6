import type { Logger } from 'pino';
import { decodeOpen } from '../wire/open.ts';
import type { Joinable } from '../wire/stream.ts';
import { messageOf } from '../wire/system-error.ts';
import { NoTargetError } from './dial-target.ts';
import { answerRequest } from './registry.ts';
import type { RequestContext } from './request-handler.ts';

/** Requests being answered at once (targets being dialled, mostly): what a flood of visitors may cost here. */
const MAX_ANSWERING = 4096;
/** One line at most in this many ms says that requests can't be answered. */
const WARNING_MS = 10_000;

/** Answers requests, a limited number at a time: connects streams with what they ask for. */
export class Answerer {
  readonly #context: RequestContext;
  readonly #log: Logger;
  #answering = 0;
  #lastWarning = Number.NEGATIVE_INFINITY;

  constructor(context: RequestContext, log: Logger) {
    this.#context = context;
    this.#log = log;
  }

  /** Joins the stream with what `payload` asks for, or resets it. */
  answer(stream: Joinable, payload: Buffer): void {
    const request = decodeOpen(payload);
    if (!request || this.#answering >= MAX_ANSWERING) {
      this.#warn(request ? 'too many targets are being dialled' : 'something was asked for that this version does not know');
      stream.reset();
      return;
    }
    this.#answering++;
    answerRequest(request, stream, this.#context).catch((error: unknown) => {
      this.#warn(error instanceof NoTargetError ? `no target answers: ${error.message}` : messageOf(error));
      stream.reset();
    }).finally(() => { this.#answering--; });
  }

  #warn(text: string): void {
    const now = performance.now();
    if (now - this.#lastWarning < WARNING_MS) return;
    this.#lastWarning = now;
    this.#log.warn(text);
  }
}
