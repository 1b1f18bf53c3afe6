import type { Logger } from 'pino';
import type { ByteSocket } from '../../wire/socket.ts';
import { type Joinable, type Opener, type StreamHooks, StreamResetError } from '../../wire/stream.ts';
import { Turns } from '../../wire/turns.ts';

/** How long connections wait for an agent that was lost, in ms: it connects to another node within a fraction of a second. */
const MOVE_MS = 5000;
/** Most connections that wait for one agent. */
const MOST_WAITING = 1000;
/** How long connections that go on, or are refused, may take in one iteration of the event loop, in ms. A thousand of one client take 60 to 130 ms. */
const ITERATION_MS = 4;

/** What `Opener.open` was called with. */
export type OpenArguments = Parameters<Opener['open']>;

/**
 * The clients that have lost their home a moment ago, since their agent, or the node, cannot be reached, and most likely have another one soon. Until then, the connections of their visitors wait, untouched:
 * so visitors do not notice that a node has died, or is being replaced.
 */
export class AwaitedHomes {
  readonly #open: (clientId: number, ...given: OpenArguments) => Joinable | undefined;
  readonly #log: Logger;
  /** When each was lost, in this order, by the monotonic clock. */
  readonly #lost = new Map<number, number>();
  readonly #waiting = new Map<number, Set<AwaitedStream>>();
  /** Those that go on, clients in round-robin order. */
  readonly #turns = new Turns({ ms: ITERATION_MS, waiting: Number.POSITIVE_INFINITY });
  #timer: NodeJS.Timeout | undefined;

  /** @param open opens a stream to where the agent is now; if it is nowhere, refuses the visitor */
  constructor(open: (clientId: number, ...given: OpenArguments) => Joinable | undefined, log: Logger) {
    this.#open = open;
    this.#log = log;
  }

  /** The clients that are lost now. */
  get clients(): IterableIterator<number> {
    return this.#lost.keys();
  }

  /** The agent was lost. */
  lost(clientId: number): void {
    if (this.#lost.has(clientId)) return;
    this.#lost.set(clientId, performance.now());
    this.#timer ??= setTimeout(() => this.#expire(), MOVE_MS).unref();
  }

  /** It is connected again, or does not come back soon: the connections go on. */
  found(clientId: number): void {
    this.#lost.delete(clientId);
    const waiting = this.#waiting.get(clientId);
    this.#waiting.delete(clientId);
    if (!waiting) return;
    this.#log.info({ clientId, connections: waiting.size }, 'connections that waited for the home of their client go on');
    for (const stream of waiting) this.#turns.add(waiting, () => stream.goOn((...given) => this.#open(clientId, ...given)));
  }

  /** Opens streams that wait; undefined = the agent was not lost just now. */
  opener(clientId: number): Opener | undefined {
    if (!this.#lost.has(clientId)) return undefined;
    return { elsewhere: true, open: (...given) => this.#wait(clientId, given) };
  }

  /** Refuses all that wait. */
  close(): void {
    clearTimeout(this.#timer);
    this.#lost.clear();
    for (const streams of this.#waiting.values()) for (const stream of streams) stream.reset();
    this.#waiting.clear();
  }

  #wait(clientId: number, given: OpenArguments): Joinable | undefined {
    const waiting = this.#waiting.get(clientId) ?? new Set();
    if (waiting.size >= MOST_WAITING) return undefined;
    const stream = new AwaitedStream(given, () => waiting.delete(stream));
    this.#waiting.set(clientId, waiting.add(stream));
    return stream;
  }

  #expire(): void {
    const before = performance.now() - MOVE_MS;
    this.#timer = undefined;
    for (const [clientId, at] of this.#lost) {
      if (at > before) {
        this.#timer = setTimeout(() => this.#expire(), at - before).unref();
        return;
      }
      this.found(clientId);
    }
  }
}

/** A stream that is opened later. */
class AwaitedStream implements Joinable {
  readonly #given: OpenArguments;
  readonly #onOver: () => void;
  #local: { readonly socket: ByteSocket; readonly hooks: StreamHooks } | undefined;
  #stream: Joinable | undefined;
  #over = false;

  /** @param onOver it does not wait any more, since it was reset */
  constructor(given: OpenArguments, onOver: () => void) {
    this.#given = given;
    this.#onOver = onOver;
  }

  get over(): boolean {
    return this.#stream?.over ?? this.#over;
  }

  join(socket: ByteSocket, hooks: StreamHooks = {}): void {
    if (this.#stream) this.#stream.join(socket, hooks);
    else if (this.#over) refuse(socket, hooks);
    else this.#local = { socket, hooks };
  }

  reset(): void {
    if (this.#stream) this.#stream.reset();
    else if (!this.#over) {
      this.#over = true;
      this.#onOver();
      if (this.#local) refuse(this.#local.socket, this.#local.hooks);
    }
  }

  goOn(open: (...given: OpenArguments) => Joinable | undefined): void {
    if (this.#over) return;
    this.#stream = open(...this.#given);
    if (!this.#stream) this.reset();
    else if (this.#local) this.#stream.join(this.#local.socket, this.#local.hooks);
  }
}

function refuse(socket: ByteSocket, hooks: StreamHooks): void {
  socket.destroy(true);
  hooks.onClose?.(new StreamResetError('the agent did not come back'));
}
