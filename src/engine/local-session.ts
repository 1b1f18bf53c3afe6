import type { Logger } from 'pino';
import { Answerer } from '../stream-handlers/answerer.ts';
import { DatagramBudget } from '../wire/datagram-socket.ts';
import { joinedEnds } from '../wire/joined-ends.ts';
import type { SocketBackend } from '../wire/socket.ts';
import type { Joinable, Opener } from '../wire/stream.ts';

/** Replaces an agent where the server itself dials the targets (local_proxy, contract D15): anything that the server can reach. */
export class LocalSession implements Opener {
  readonly #answerer: Answerer;

  constructor(sockets: SocketBackend, log: Logger) {
    this.#answerer = new Answerer({ sockets, datagrams: new DatagramBudget(), hold: () => () => undefined }, log);
  }

  /** Answers the request in `payload`, and joins the result. */
  open(payload: Buffer): Joinable {
    const [near, far] = joinedEnds();
    this.#answerer.answer(far, payload);
    return near;
  }
}
