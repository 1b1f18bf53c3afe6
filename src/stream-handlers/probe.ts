import { MessageSocket } from '../wire/message-socket.ts';
import type { SocketBackend } from '../wire/socket.ts';
import { messageOf } from '../wire/system-error.ts';
import { dial } from './dial-target.ts';
import { awaited } from './stream-handler.ts';

/** Dials a target and reports the result. */
export const answerProbe = awaited<'probe'>(async ({ target, timeoutMs }, stream, { sockets }) => {
  stream.join(new MessageSocket(await problemOf(sockets, target, timeoutMs)));
});

/** Why a target can't be dialed; "" = it can. */
async function problemOf(sockets: SocketBackend, target: string, timeoutMs: number): Promise<string> {
  try {
    (await dial(sockets, [target], timeoutMs)).destroy();
    return '';
  } catch (error) {
    return messageOf(error);
  }
}
