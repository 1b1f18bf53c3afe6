/** A socket that is not being read, or that has one direction ended. */
export interface Watched {
  /** Used by the watch: the socket's index in it; initially NOT_WATCHED. */
  watchPlace: number;
  /** Checks itself. @param now by the monotonic clock. @returns false = no more checks needed */
  look(now: number): boolean;
}

/** `watchPlace` of a socket that is not watched. */
export const NOT_WATCHED = -1;
/** How often each watched socket is checked, in ms. */
export const LOOK_MS = 3000;
/** The number of steps of a round over all sockets, so that no step blocks the event loop for long. */
const STEPS = 15;

/**
 * Probes sockets that the event loop does not watch. While nothing is read from a socket, the system reports nothing about it to Node: without a
 * probe, a vanished peer would hold it forever.
 *
 * Nearly every connection is added and removed here between two probes, so this must cost next to nothing and leave no garbage: a set that is being
 * iterated retains deleted members until the iteration continues, which made garbage collection the larger part of the cost.
 */
export class SocketWatch {
  /** Those before `#next` were checked in this round. */
  readonly #watched: Watched[] = [];
  #next = 0;
  /** How many sockets each step of this round checks. It does not shrink with the number of sockets, or closing many dead ones would get slower and slower. */
  #quota = 0;
  #timer: NodeJS.Timeout | undefined;

  /** The socket may be watched already. */
  add(socket: Watched): void {
    if (socket.watchPlace !== NOT_WATCHED) return;
    socket.watchPlace = this.#watched.length;
    this.#watched.push(socket);
    this.#timer ??= setInterval(() => this.#step(), LOOK_MS / STEPS).unref();
  }

  /** The socket need not be watched. */
  delete(socket: Watched): void {
    let place = socket.watchPlace;
    if (place === NOT_WATCHED) return;
    socket.watchPlace = NOT_WATCHED;
    // A probed socket fills the gap among the probed ones, and the last probed one takes its place, so that none is skipped.
    if (place < this.#next) {
      this.#next--;
      this.#move(this.#next, place);
      place = this.#next;
    }
    this.#move(this.#watched.length - 1, place);
    this.#watched.pop();
  }

  #move(from: number, to: number): void {
    const moved = this.#watched[from];
    if (!moved || from === to) return;
    this.#watched[to] = moved;
    moved.watchPlace = to;
  }

  #step(): void {
    const now = performance.now();
    this.#quota = Math.max(this.#quota, Math.ceil(this.#watched.length / STEPS));
    for (let left = this.#quota; left > 0; left--) {
      const socket = this.#watched[this.#next];
      if (!socket) {
        this.#next = 0;
        this.#quota = 0;
        break;
      }
      this.#next++;
      if (!socket.look(now)) this.delete(socket);
    }
    if (this.#watched.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#quota = 0;
  }
}

/** The process's only watch. */
export const socketWatch = new SocketWatch();
