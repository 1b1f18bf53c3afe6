import type { PullSocket } from '../../wire/pull-socket.ts';
import type { BodyEnd } from './body.ts';

/**
 * Moves a body from one connection to the other, no byte further, as fast as both can.
 * @throws {HttpSyntaxError} when it is malformed or ends too early
 * @throws {SocketGoneError}
 */
export async function moveBody(from: PullSocket, to: PullSocket, body: BodyEnd): Promise<void> {
  while (!body.over) {
    const chunk = await from.read();
    if (!chunk) {
      body.end();
      return;
    }
    const { taken, passed } = body.take(chunk);
    if (taken < chunk.length) from.unread(chunk.subarray(taken));
    if (passed.length > 0) await to.write(passed);
  }
}
