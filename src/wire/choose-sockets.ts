import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { socketsBy, type BackendName } from './backends.ts';
import type { SocketBackend } from './socket.ts';
import { messageOf } from './system-error.ts';

const run = promisify(execFile);

/** The choice of a socket backend: `auto` = the fastest one whose self-test passes on this Node. */
export type SocketsChoice = 'auto' | BackendName;

/** The backends that rely on undocumented parts of Node, the fastest first. */
const TO_TRY = ['captured', 'onread'] as const;
/** Timeout of a self-test, in ms. It usually takes a fraction of a second. */
const SELF_TEST_MS = 10_000;

/**
 * Chooses the socket backend. For `auto`, tests undocumented parts of Node in child processes, because a wrong call inside Node ends the whole process.
 * @param selfTest the command that tests the backend whose name is appended to it, and prints "works"
 * @param onRefused called with each backend that does not work here, and why
 * @throws when `captured` was chosen and Node's sockets are made in another way
 */
export async function chooseSockets(choice: SocketsChoice, selfTest: readonly string[], onRefused: (problem: string) => void): Promise<SocketBackend> {
  if (choice !== 'auto') return socketsBy(choice);
  for (const name of TO_TRY) {
    const problem = await problemOf(name, selfTest);
    if (problem === undefined) return socketsBy(name);
    onRefused(`sockets are not had by ${name}, which is faster: ${problem}`);
  }
  return socketsBy('net');
}

async function problemOf(name: BackendName, [program = '', ...args]: readonly string[]): Promise<string | undefined> {
  try {
    const said = await run(program, [...args, name], { timeout: SELF_TEST_MS, killSignal: 'SIGKILL' });
    return said.stdout === 'works' ? undefined : 'its self-test said something else';
  } catch (error) {
    // This process may not start child processes (--permission), or the child process failed.
    return messageOf(error).trim();
  }
}
