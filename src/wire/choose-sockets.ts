import { socketsBy, type BackendName } from './backends.ts';
import { type SelfTests, TO_TRY } from './self-tests.ts';
import type { SocketBackend } from './socket.ts';

/** The choice of a socket backend: `auto` = the fastest one whose self-test passes on this Node. */
export type SocketsChoice = 'auto' | BackendName;

/**
 * Chooses the socket backend.
 * @param onRefused called with each backend that does not work here, and why
 * @throws when `captured` was chosen and Node's sockets are made in another way
 */
export async function chooseSockets(choice: SocketsChoice, tests: SelfTests, onRefused: (problem: string) => void): Promise<SocketBackend> {
  if (choice !== 'auto') return socketsBy(choice);
  for (const name of TO_TRY) {
    const problem = await tests.problemOf(name);
    if (problem === undefined) return socketsBy(name);
    onRefused(`sockets are not had by ${name}, which is faster: ${problem}`);
  }
  return socketsBy('net');
}
