import type { PullSocket } from '../../wire/pull-socket.ts';
import type { BodyEnd } from './body.ts';

/**
 * Moves a body as it is from one connection to the other, no byte further, as fast as both can.
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
    const length = body.take(chunk);
    if (length < chunk.length) from.unread(chunk.subarray(length));
    if (length > 0) await to.write(chunk.subarray(0, length));
  }
}
