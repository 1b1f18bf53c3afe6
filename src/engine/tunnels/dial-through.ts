import { decodeDialResult, type DialResult } from '../../wire/dial-result.ts';
import { PullSocket, SocketGoneError } from '../../wire/pull-socket.ts';
import type { ByteSocket } from '../../wire/socket.ts';

/** Added to the dial timeout for the round trip to the agent, in ms. */
const WAY_MS = 2000;

/** A connection to a target that the agent is dialing. Data written before the target answers is sent when it does. */
export interface Dialed {
  readonly socket: PullSocket;
  /** The outcome. Await it before reading; if it is not `connected`, the socket is closed. */
  readonly result: Promise<DialResult>;
}

/** Waits for the agent's result of a dial. @param bytes leads to the stream that was opened with the request */
export function dialThrough(bytes: ByteSocket, dialMs: number): Dialed {
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
