import type { DatagramBudget } from '../wire/datagram-socket.ts';
import type { Joinable } from '../wire/stream.ts';
import type { OpenKind, OpenRequest } from '../wire/open.ts';
import type { SocketBackend } from '../wire/socket.ts';
import type { FileServer } from './files/file-server.ts';

/** What answering a request may need of the session it came in. */
export interface RequestContext {
  readonly sockets: SocketBackend;
  /** What the datagrams of all its sessions may have waiting. */
  readonly datagrams: DatagramBudget;
  /** Serves the files of this machine; absent = none are. */
  readonly files?: FileServer;
  /** Something began that a session waits for when it closes. @returns what to call, once, when it is over */
  readonly hold: () => () => void;
  /** What opens direct paths with visitors; absent = nothing does, here. */
  readonly direct?: { readonly accept: (request: OpenRequest<'direct'>, stream: Joinable) => void };
}

/**
 * Answers one kind of request: joins the stream with what was asked for. Requests that are being answered are limited in number, so
 * it resolves once the stream is joined. When it rejects the stream is reset and the operator reads the error's message.
 */
export type RequestHandler<K extends OpenKind> = (request: OpenRequest<K>, stream: Joinable, context: RequestContext) => Promise<void>;
