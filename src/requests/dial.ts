import { parseTarget } from '../rules/targets.ts';
import { dialFailure, encodeDialResult } from '../wire/dial-result.ts';
import { MessageSocket } from '../wire/message-socket.ts';
import type { RequestHandler } from './request-handler.ts';

/** Joins the stream with a target and says first what became of the dial: a proxy has to tell its visitor. */
export const answerDial: RequestHandler<'dial'> = async ({ target: text, timeoutMs }, stream, { sockets, hold }) => {
  const target = parseTarget(text);
  try {
    if (!target) throw new Error(`${JSON.stringify(text)} is no target`);
    const socket = await sockets.connect({ ...target, timeoutMs });
    socket.unread(encodeDialResult('connected'));
    stream.join(socket, { onClose: hold() });
  } catch (error) {
    stream.join(new MessageSocket(encodeDialResult(dialFailure(error))));
  }
};
