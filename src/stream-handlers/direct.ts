import { awaited } from './stream-handler.ts';

/** Opens a direct path with a visitor; the stream carries the signaling between the two. */
export const answerDirect = awaited<'direct'>(async (request, stream, { direct }) => {
  if (!direct) throw new Error('direct paths lead to agents only');
  direct.accept(request, stream);
});
