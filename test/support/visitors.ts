import { closed, roundTrip, visit } from './target.ts';

/** A visit: when it began and ended, by the monotonic clock, and why it failed; "" = it was served. */
export interface Visited {
  readonly began: number;
  readonly ended: number;
  readonly problem: string;
}

/** Visitors of a tunnel to an echo that come one after another, without waiting for each other. */
export class Visitors {
  readonly done: Visited[] = [];
  readonly #open = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  private constructor(port: number, host: () => string, eachMs: number) {
    this.#timer = setInterval(() => {
      const one = this.#visit(port, host).finally(() => this.#open.delete(one));
      this.#open.add(one);
    }, eachMs);
  }

  /** They begin to come. @param host where the next one comes to @param eachMs between the beginnings of two visits */
  static start(port: number, host: () => string, eachMs = 20): Visitors {
    return new Visitors(port, host, eachMs);
  }

  /** No more come; resolves to all visits when the last one has ended. */
  async stop(): Promise<readonly Visited[]> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
    return this.done;
  }

  async #visit(port: number, host: () => string): Promise<void> {
    const began = performance.now();
    let problem = '';
    try {
      const socket = await visit(port, host());
      const answer = await Promise.race([roundTrip(socket, 'hello'), closed(socket).then(() => 'nothing: the connection was closed')]);
      if (answer !== 'hello') problem = `the answer was ${answer}`;
      socket.destroy();
    } catch (error) {
      problem = String(error);
    }
    this.done.push({ began, ended: performance.now(), problem });
  }
}
