import { dialFailure, encodeDialResult } from '../wire/dial-result.ts';
import { MessageSocket } from '../wire/message-socket.ts';
import { dial, NoTargetError } from './dial-target.ts';
import type { RequestHandler } from './request-handler.ts';

/** Joins the stream with the first target that answers and says first what became of the dial: a proxy has to tell its visitor. */
export const answerDial: RequestHandler<'dial'> = async ({ targets, timeoutMs }, stream, { sockets, hold }) => {
  try {
    const socket = await dial(sockets, targets, timeoutMs);
    socket.unread(encodeDialResult('connected'));
    stream.join(socket, { onClose: hold() });
  } catch (error) {
    stream.join(new MessageSocket(encodeDialResult(dialFailure(error instanceof NoTargetError ? error.cause : error))));
  }
};
