import type { Logger } from 'pino';
import { decodeOpen, type OpenRequest } from '../wire/open.ts';
import type { Joinable } from '../wire/stream.ts';
import { messageOf } from '../wire/system-error.ts';
import { FairQueue } from './fair-queue.ts';
import { NoTargetError } from './dial-target.ts';
import { answerRequest } from './registry.ts';
import type { StreamContext } from './stream-handler.ts';

/** Maximum requests in progress (mostly dials of targets): limits the cost of a flood of visitors. */
const MAX_ANSWERING = 4096;
/** Maximum requests of one tunnel or host, in progress and queued. A tunnel whose targets don't answer leaves capacity for others. */
const MAX_OF_ONE = 2048;
/** Minimum interval between warnings about failed requests, in ms. */
const WARNING_MS = 10_000;

/** Answers requests, a limited number at a time: connects streams with targets, files and so on. */
export class Answerer {
  readonly #context: StreamContext;
  readonly #log: Logger;
  /** Whether the outcome of each request is logged. */
  readonly #followed: boolean;
  readonly #queue = new FairQueue<string>(MAX_OF_ONE);
  /** Requests in progress, by tunnel or host. */
  readonly #answering = new Map<string, number>();
  #allAnswering = 0;
  #lastWarning = Number.NEGATIVE_INFINITY;

  constructor(context: StreamContext, log: Logger) {
    this.#context = context;
    this.#log = log;
    this.#followed = log.isLevelEnabled('debug');
  }

  /** Handles the request in `payload` and joins its result with the stream, or resets the stream: now, or when the fair queue reaches the request. */
  answer(stream: Joinable, payload: Buffer): void {
    const request = decodeOpen(payload);
    if (!request) {
      this.#warn('the server sent a request that this version does not know');
      stream.reset();
      return;
    }
    const by = ('by' in request ? request.by : undefined) ?? request.kind;
    if (!this.#queue.begin(by, () => this.#begin(by, request, stream))) this.#tooMany(stream);
  }

  #begin(by: string, request: OpenRequest, stream: Joinable): void {
    // The visitor may have disconnected in the meantime.
    if (stream.over) return;
    const ofOne = this.#answering.get(by) ?? 0;
    if (ofOne >= MAX_OF_ONE || this.#allAnswering >= MAX_ANSWERING) {
      this.#tooMany(stream);
      return;
    }
    this.#answering.set(by, ofOne + 1);
    this.#allAnswering++;
    answerRequest(request, stream, this.#context, (error) => {
      this.#answered(by);
      if (this.#followed) {
        this.#log.debug(
          { stream: stream.id, by, kind: request.kind, ...('targets' in request && { targets: request.targets }) },
          error === undefined ? 'target dialed' : 'no target answered',
        );
      }
      if (error === undefined) return;
      this.#warn(error instanceof NoTargetError ? `no target responds: ${error.message}` : messageOf(error));
      stream.reset();
    });
  }

  #answered(by: string): void {
    this.#allAnswering--;
    const left = (this.#answering.get(by) ?? 1) - 1;
    if (left > 0) this.#answering.set(by, left);
    else this.#answering.delete(by);
  }

  #tooMany(stream: Joinable): void {
    this.#warn('too many targets are being dialed');
    stream.reset();
  }

  #warn(text: string): void {
    const now = performance.now();
    if (now - this.#lastWarning < WARNING_MS) return;
    this.#lastWarning = now;
    this.#log.warn(text);
  }
}
