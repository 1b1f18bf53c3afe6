import { type Attempts, credentials, type Failure, type FreedSource } from '../../rules/attempts.ts';
import { MAX_CONTROL } from '../../wire/frames.ts';
import { NODE_LIST, type NodeMessage } from '../../wire/node-messages.ts';

/** How long wrong guesses are gathered before they are sent, in ms. Of more than fit a message in this time, the others count here only. */
const GUESSES_MS = 100;
/** Most bytes of the guesses in a message, as JSON: anyone chooses the names, and a character can become six bytes. */
const MOST_BYTES = MAX_CONTROL - 1024;

/** Shares wrong guesses with the other nodes, so that more nodes don't give an attacker more guesses. */
export class GuessNews {
  readonly #attempts: Attempts;
  readonly #now: () => number;
  readonly #send: (message: NodeMessage) => void;
  readonly #stop: () => void;
  #gathered: Failure[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(attempts: Attempts, now: () => number, send: (message: NodeMessage) => void) {
    this.#attempts = attempts;
    this.#now = now;
    this.#send = send;
    this.#stop = attempts.share({ failed: (failure) => this.#add(failure), freed: (source) => send({ type: 'freed', source }) });
  }

  /** Another node reports wrong guesses. */
  hear(guesses: ReadonlyArray<{ readonly credential: string; readonly address: string; readonly name: string }>): void {
    for (const guess of guesses) {
      // One of the next version may have further kinds.
      const credential = credentials.find((each) => each === guess.credential);
      if (credential) this.#attempts.hear({ ...guess, credential }, this.#now());
    }
  }

  /** At another node, an administrator has ended the lockouts of a source. */
  hearFreed(source: FreedSource): void {
    this.#attempts.hearFreed(source, this.#now());
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stop();
  }

  #add(failure: Failure): void {
    const bytes = Buffer.byteLength(JSON.stringify(failure)) + 1;
    if (this.#gathered.length < NODE_LIST && this.#bytes + bytes <= MOST_BYTES) {
      this.#gathered.push(failure);
      this.#bytes += bytes;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#send({ type: 'guesses', guesses: this.#gathered });
      this.#gathered = [];
      this.#bytes = 0;
    }, GUESSES_MS).unref();
  }
}
