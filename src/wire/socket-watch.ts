/** A socket that nothing is read from at the moment, or whose one direction has ended. */
export interface Watched {
  /** Looks after itself. @param now by the monotonic clock. @returns false = it needs no more of this */
  look(now: number): boolean;
}

/** Each watched socket is looked at this often, in ms. */
export const LOOK_MS = 3000;
/** A look at all of them is spread over so many steps, so that none of them holds the event loop up. */
const STEPS = 15;

/**
 * Looks at sockets that the event loop does not watch. While nothing is read from a socket, the system tells Node nothing about it: without a
 * look, a peer that is gone would hold it forever.
 */
export class SocketWatch {
  readonly #watched = new Set<Watched>();
  #round: Iterator<Watched, undefined> = this.#watched.values();
  /** How many each step of this round looks at. It does not shrink with the set, or the dead of a crowd would go more and more slowly. */
  #quota = 0;
  #timer: NodeJS.Timeout | undefined;

  /** It may be watched already. */
  add(socket: Watched): void {
    this.#watched.add(socket);
    this.#timer ??= setInterval(() => this.#step(), LOOK_MS / STEPS).unref();
  }

  delete(socket: Watched): void {
    this.#watched.delete(socket);
  }

  #step(): void {
    const now = performance.now();
    this.#quota = Math.max(this.#quota, Math.ceil(this.#watched.size / STEPS));
    for (let left = this.#quota; left > 0; left--) {
      const next: IteratorResult<Watched, undefined> = this.#round.next();
      if (next.done) {
        this.#round = this.#watched.values();
        this.#quota = 0;
        break;
      }
      if (!next.value.look(now)) this.#watched.delete(next.value);
    }
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** The one watch of this process. */
export const socketWatch = new SocketWatch();
