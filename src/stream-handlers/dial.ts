import { dialFailure, encodeDialResult } from '../wire/dial-result.ts';
import { MessageSocket } from '../wire/message-socket.ts';
import { dialFirst } from './dial-target.ts';
import type { StreamHandler } from './stream-handler.ts';

const connected = encodeDialResult('connected');

/** Dials the first target that answers and joins it with the stream. Sends the result of the dial first: a proxy reports it to its visitor. */
export const answerDial: StreamHandler<'dial'> = ({ targets, timeoutMs, credit }, stream, { sockets, hold }, answered) => {
  dialFirst(sockets, targets, timeoutMs, (outcome) => {
    if (outcome instanceof Error) {
      stream.join(new MessageSocket(encodeDialResult(dialFailure(outcome.cause))));
    } else {
      outcome.unread(connected);
      stream.join(outcome, { onClose: hold(), credit });
    }
    answered();
  });
};
