import { dial } from './dial-target.ts';
import type { RequestHandler } from './request-handler.ts';

/** Joins the stream with the first target that answers. */
export const answerTcp: RequestHandler<'tcp'> = async ({ targets }, stream, { sockets, hold }) => {
  const socket = await dial(sockets, targets);
  stream.join(socket, { onClose: hold() });
};
