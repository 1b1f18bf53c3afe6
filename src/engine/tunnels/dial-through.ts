import { decodeDialResult, type DialResult } from '../../wire/dial-result.ts';
import { PullSocket, SocketGoneError } from '../../wire/pull-socket.ts';
import type { ByteSocket } from '../../wire/socket.ts';

/** How much longer than the dial the agent's answer may take, in ms: the way there and back. */
const WAY_MS = 2000;

/** A connection to a target, which the agent is dialling. What is written meanwhile goes to the target when it answers. */
export interface Dialled {
  readonly socket: PullSocket;
  /** What becomes of it. To be awaited before anything is read; if it is not `connected` the socket is gone. */
  readonly result: Promise<DialResult>;
}

/** Waits for the agent's word on a dial. @param bytes leads to the stream that was opened with the request */
export function dialThrough(bytes: ByteSocket, dialMs: number): Dialled {
  const socket = new PullSocket(bytes);
  socket.deadline(dialMs + WAY_MS);
  return { socket, result: resultOf(socket) };
}

async function resultOf(socket: PullSocket): Promise<DialResult> {
  try {
    const answer = await socket.parse((bytes) => ({ length: 1, result: decodeDialResult(bytes[0]) }));
    socket.deadline(undefined);
    const result = answer?.result ?? 'failed';
    if (result !== 'connected') socket.destroy();
    return result;
  } catch (error) {
    if (!(error instanceof SocketGoneError)) throw error;
    socket.destroy();
    return error.timeout ? 'timeout' : 'failed';
  }
}
