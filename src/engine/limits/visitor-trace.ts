import type { Logger } from 'pino';

/** The other end of a connection. */
interface Peer {
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/**
 * Follows visitors' connections in the log, from accept to close: each line has the connection's number as `visitor`. It exists only while the log level includes
 * it, so that `trace?.say(...)` costs nothing otherwise, not even its arguments.
 */
export class VisitorTrace {
  readonly #log: Logger;
  /** By the objects that represent a visitor's connection: its sockets, and their readers. */
  readonly #numbers = new WeakMap<object, number>();
  #last = 0;

  /** undefined = the log does not take level debug. */
  static of(log: Logger | undefined): VisitorTrace | undefined {
    return log?.isLevelEnabled('debug') ? new VisitorTrace(log) : undefined;
  }

  private constructor(log: Logger) {
    this.#log = log;
  }

  /** A connection was accepted. @param place where, for the log */
  accepted(visitor: Peer, place: object): void {
    this.#numbers.set(visitor, ++this.#last);
    this.say(visitor, 'accepted', { ...place, address: visitor.remoteAddress, port: visitor.remotePort });
  }

  /** From now on these objects represent the visitor's connection, too. */
  same(visitor: object, ...others: readonly object[]): void {
    const number = this.#numbers.get(visitor);
    if (number === undefined) return;
    for (const other of others) this.#numbers.set(other, number);
  }

  /** Something happened to the visitor's connection. @param details no secrets, and nothing long */
  say(visitor: object | undefined, text: string, details: object = {}): void {
    this.#log.debug({ visitor: visitor && this.#numbers.get(visitor), ...details }, text);
  }
}
