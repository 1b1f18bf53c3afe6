import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Refusal } from '../../../rules/visitor-refusals.ts';
import { statusOf } from './refusal.ts';

/** Lines a second for one cause and host. */
const PER_CAUSE = 10;
/** Lines per second in total; beyond it refusals of one cause share a line, for all hosts. */
const PER_SECOND = 100;
const SECOND_MS = 1000;
/** Text from visitors is cut to this many characters. */
const MOST_TEXT = 255;

/** A request that was refused. */
export interface RefusedRequest {
  readonly refusal: Refusal;
  /** For the log; may contain text that the visitor sent. */
  readonly reason: string;
  /** undefined = no host */
  readonly hostId: number | undefined;
  /** The visitor's. */
  readonly address: string;
}

interface Tally {
  readonly line: RefusedRequest;
  /** The id of the last line. */
  id: string;
  lines: number;
  /** Requests that share the last line's id. */
  more: number;
}

/**
 * Writes refused requests to the log, and gives each an id by which its line is found. However many there are, the log grows by a
 * bounded number of lines a second: those beyond share the id of the last line of their cause, and are counted in a line that follows.
 */
export class RefusalLog {
  readonly #log: Logger;
  /** The lines of the current second, by cause and host. */
  readonly #tallies = new Map<string, Tally>();
  #lines = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @returns the id that the visitor is shown */
  note(request: RefusedRequest): string {
    this.#timer ??= setTimeout(() => this.flush(), SECOND_MS).unref();
    const own = this.#tallies.get(`${request.refusal} ${request.hostId}`);
    const full = this.#lines >= PER_SECOND;
    const tally = own ?? this.#begin(request, full ? request.refusal : `${request.refusal} ${request.hostId}`);
    if (tally.lines >= (full ? 1 : PER_CAUSE)) {
      tally.more++;
      return tally.id;
    }
    return this.#write(request, tally);
  }

  #begin(line: RefusedRequest, key: string): Tally {
    const tally = this.#tallies.get(key) ?? { line, id: '', lines: 0, more: 0 };
    this.#tallies.set(key, tally);
    return tally;
  }

  #write({ refusal, reason, hostId, address }: RefusedRequest, tally: Tally): string {
    tally.lines++;
    this.#lines++;
    tally.id = randomBytes(6).toString('hex');
    this.#log.info({ id: tally.id, hostId, address, status: statusOf(refusal) }, `a request was refused: ${printable(reason)}`);
    return tally.id;
  }

  /** Ends the second: logs how many requests share an id. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lines = 0;
    for (const { line: { refusal, hostId }, id, more } of this.#tallies.values()) {
      if (more > 0) {
        this.#log.info({ id, hostId, status: statusOf(refusal), more }, 'requests were refused for the same cause within a second, and have the same id');
      }
    }
    this.#tallies.clear();
  }
}

/** A visitor's text as one short line, without terminal control characters. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.slice(0, MOST_TEXT).replaceAll(/[\0-\x1f\x7f-\x9f]/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
