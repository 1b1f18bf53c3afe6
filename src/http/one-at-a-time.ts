import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of a connection that may wait behind the one under way. Beyond, the connection is closed. */
export const PIPELINED_MOST = 16;

/**
 * Serves the requests of one connection one after the other, each when the response before it is through. Node gives a server all requests that a peer
 * has sent (HTTP/1.1 pipelining) at once, and keeps their responses until it is their turn: a peer that reads nothing could fill the memory with
 * them. And a response that waits behind another gets no 'close' when the connection ends, so nothing that it holds would be released.
 */
export function oneAtATime(serve: RequestListener): RequestListener {
  /** Absent = nothing is under way. */
  const waiting = new WeakMap<Socket, Array<() => void>>();

  const begin = (socket: Socket, queue: Array<() => void>, ...[request, response]: Parameters<RequestListener>): void => {
    response.once('close', () => {
      const next = socket.destroyed ? undefined : queue.shift();
      if (next === undefined) waiting.delete(socket);
      else next();
    });
    serve(request, response);
  };

  return (request, response) => {
    const { socket } = request;
    const queue = waiting.get(socket);
    if (queue === undefined) {
      const own: Array<() => void> = [];
      waiting.set(socket, own);
      begin(socket, own, request, response);
    } else if (queue.length < PIPELINED_MOST) {
      queue.push(() => begin(socket, queue, request, response));
    } else {
      socket.destroy();
    }
  };
}
