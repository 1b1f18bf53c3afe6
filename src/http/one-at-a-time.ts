import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of a connection that may wait behind the current one. Beyond that, the connection is closed. */
export const PIPELINED_MOST = 16;

/**
 * Processes the requests of a connection one after another, each when the previous response is complete. With HTTP/1.1 pipelining, Node
 * passes all requests of a peer to the server immediately and queues the responses, so a peer that reads nothing could fill the memory with
 * them. Also, a queued response gets no 'close' event when the connection ends, so its resources would never be released.
 */
export function oneAtATime(serve: RequestListener): RequestListener {
  /** Absent = no request is being processed. */
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
    // Node still parses requests that arrived before the connection was closed. Their responses would never get a 'close' event.
    if (socket.destroyed) return;
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
