import { DIAL_TIMEOUT_MS, dialFirst } from './dial-target.ts';
import type { StreamHandler } from './stream-handler.ts';

/** Joins the stream with the first target that answers. */
export const answerTcp: StreamHandler<'tcp'> = ({ targets }, stream, { sockets, hold }, answered) => {
  dialFirst(sockets, targets, DIAL_TIMEOUT_MS, (outcome) => {
    if (outcome instanceof Error) {
      answered(outcome);
      return;
    }
    stream.join(outcome, { onClose: hold() });
    answered();
  });
};
