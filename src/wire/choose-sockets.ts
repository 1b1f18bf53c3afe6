import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { socketsBy, type BackendName } from './backends.ts';
import type { SocketBackend } from './socket.ts';
import { messageOf } from './system-error.ts';

const run = promisify(execFile);

/** How sockets are to be had: `auto` = the fastest way that this Node passes the self-test of. */
export type SocketsChoice = 'auto' | BackendName;

/** Those that rely on what Node does not document, the fastest first. */
const TO_TRY = ['captured', 'onread'] as const;
/** A self-test takes a fraction of a second; one that hangs is given up after this many ms. */
const SELF_TEST_MS = 10_000;

/**
 * The way to get sockets. For `auto`, tries in child processes what isn't documented of Node: a wrong call inside Node ends the whole process.
 * @param selfTest the command that tests the way whose name is added to it, and says "works"
 * @param onRefused hears of each way that does not work here, and why
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
    // That it may not start processes (--permission), or the end of the one it started.
    return messageOf(error).trim();
  }
}
