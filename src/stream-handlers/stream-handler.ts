import type { DatagramBudget } from '../wire/datagram-socket.ts';
import type { Joinable } from '../wire/stream.ts';
import type { OpenKind, OpenRequest } from '../wire/open.ts';
import type { ByteSocket, SocketBackend } from '../wire/socket.ts';
import type { Site } from './files/served-path.ts';

/** What a handler may use from the session of its stream. */
export interface StreamContext {
  readonly sockets: SocketBackend;
  /** Limits the queued datagrams of all the session's streams. */
  readonly datagrams: DatagramBudget;
  /** Serves local files; absent = no files are served. */
  readonly files?: { readonly serve: (socket: ByteSocket, site: Site) => void | Promise<void> };
  /** Delays the session's close until the returned function is called, once. */
  readonly hold: () => () => void;
  /** Opens direct paths with visitors; absent = not supported. */
  readonly direct?: { readonly accept: (request: OpenRequest<'direct'>, stream: Joinable) => void };
}

/**
 * Called once: the stream is joined, or `error` gives the reason why it can't be. The stream is then reset, and the operator sees the error's
 * message.
 */
export type Answered = (error?: unknown) => void;

/** Answers one kind of request: joins the stream with what was asked for. Requests are limited in number until they are `answered`. */
export type StreamHandler<K extends OpenKind> = (request: OpenRequest<K>, stream: Joinable, context: StreamContext, answered: Answered) => void;

/** Creates a handler from one that resolves when the stream is joined, for requests that are rarer than visitors' connections. */
export function awaited<K extends OpenKind>(
  answer: (request: OpenRequest<K>, stream: Joinable, context: StreamContext) => Promise<void>,
): StreamHandler<K> {
  return (request, stream, context, answered) => {
    answer(request, stream, context).then(() => answered(), answered);
  };
}
