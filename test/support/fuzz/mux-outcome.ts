import { ControlQueue } from '../../../src/wire/control-queue.ts';
import { Mux } from '../../../src/wire/mux.ts';
import type { Stream } from '../../../src/wire/stream.ts';
import { EmptySocket } from '../empty-socket.ts';

/** What a server's session makes of these bytes: what its streams received, its messages, its end. @throws {Error} when something is left afterwards */
export function muxOutcome(pieces: readonly Buffer[]): unknown {
  const socket = new EmptySocket();
  const seen: unknown[] = [];
  const locals = new Map<number, EmptySocket>();
  let ends = 0;
  const mux = new Mux(socket, 'server', {
    onOpen: (stream: Stream) => {
      const local = new EmptySocket();
      locals.set(stream.id, local);
      stream.join(local);
    },
    onControl: (message) => seen.push(message),
    onClose: (reason) => {
      ends++;
      seen.push(reason);
    },
  }, { heartbeatMs: 60_000, controlQueue: new ControlQueue(Number.POSITIVE_INFINITY) });
  for (const piece of pieces) mux.onData(Buffer.from(piece));
  const open = mux.streamCount;
  mux.onClose();
  if (ends !== 1) throw new Error(`a session that ended ${ends} times`);
  if (mux.streamCount !== 0) throw new Error('streams that outlive their session');
  if ([...locals.values()].some((local) => !local.destroyed)) throw new Error('a socket that outlives its stream');
  return { seen, open, locals: [...locals].map(([id, { received, ended }]) => [id, received, ended]) };
}
