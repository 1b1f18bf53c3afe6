import type { Logger } from 'pino';
import { decodeOpen, type OpenRequest } from '../wire/open.ts';
import type { Joinable } from '../wire/stream.ts';
import { messageOf } from '../wire/system-error.ts';
import { Turns } from './turns.ts';
import { NoTargetError } from './dial-target.ts';
import { answerRequest } from './registry.ts';
import type { StreamContext } from './stream-handler.ts';

/** Requests being answered at once (targets being dialled, mostly): what a flood of visitors may cost here. */
const MAX_ANSWERING = 4096;
/** Of these, those of one tunnel or host; and as many may wait for their turn. A tunnel whose targets are silent leaves room for others. */
const MAX_OF_ONE = 2048;
/** One line at most in this many ms says that requests can't be answered. */
const WARNING_MS = 10_000;

/** Answers requests, a limited number at a time: connects streams with what they ask for. */
export class Answerer {
  readonly #context: StreamContext;
  readonly #log: Logger;
  /** Somebody reads what becomes of each request. */
  readonly #followed: boolean;
  readonly #turns = new Turns<string>(MAX_OF_ONE);
  /** How many are being answered, by who asked. */
  readonly #answering = new Map<string, number>();
  #allAnswering = 0;
  #lastWarning = Number.NEGATIVE_INFINITY;

  constructor(context: StreamContext, log: Logger) {
    this.#context = context;
    this.#log = log;
    this.#followed = log.isLevelEnabled('debug');
  }

  /** Joins the stream with what `payload` asks for, or resets it: now, or when it is the turn of the tunnel or host that asks. */
  answer(stream: Joinable, payload: Buffer): void {
    const request = decodeOpen(payload);
    if (!request) {
      this.#warn('something was asked for that this version does not know');
      stream.reset();
      return;
    }
    const by = ('by' in request ? request.by : undefined) ?? request.kind;
    if (!this.#turns.begin(by, () => this.#begin(by, request, stream))) this.#tooMany(stream);
  }

  #begin(by: string, request: OpenRequest, stream: Joinable): void {
    // The visitor may have gone meanwhile.
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
      if (this.#followed) this.#log.debug({ stream: stream.id, by, kind: request.kind, ...('targets' in request && { targets: request.targets }) }, error === undefined ? 'target dialled' : 'no target answered');
      if (error === undefined) return;
      this.#warn(error instanceof NoTargetError ? `no target answers: ${error.message}` : messageOf(error));
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
    this.#warn('too many targets are being dialled');
    stream.reset();
  }

  #warn(text: string): void {
    const now = performance.now();
    if (now - this.#lastWarning < WARNING_MS) return;
    this.#lastWarning = now;
    this.#log.warn(text);
  }
}
