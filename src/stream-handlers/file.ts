import { socketPair } from '../wire/socket-pair.ts';
import { awaited } from './stream-handler.ts';

/** Joins the stream with an HTTP server for a directory of this machine. */
export const answerFile = awaited<'file'>(async ({ path, stripPrefix }, stream, { files, hold }) => {
  if (!files) throw new Error('files are served by agents only');
  const [near, far] = socketPair({ remoteAddress: '', remotePort: 0 });
  await files.serve(far, { path, stripPrefix });
  stream.join(near, { onClose: hold() });
});
