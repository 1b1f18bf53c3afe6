import { execFile } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { capturedBackend } from './captured-backend.ts';
import { netBackend } from './net-socket.ts';
import { onreadBackend } from './onread-socket.ts';
import type { SocketBackend } from './socket.ts';

/** How sockets are to be had: `auto` = the fastest way that this Node passes the self-test of. */
export type SocketsChoice = 'auto' | 'net' | 'onread' | 'captured';

/** A self-test takes a fraction of a second; one that hangs is given up after this many ms. */
const SELF_TEST_MS = 10_000;

/** The way to get sockets. For `auto`, tries in a child process what isn't documented of Node: the mistake of another version ends only that. */
export async function chooseSockets(choice: SocketsChoice): Promise<SocketBackend> {
  switch (choice) {
    case 'net': return netBackend;
    case 'onread': return onreadBackend;
    case 'captured': return capturedBackend();
    case 'auto': return await worksHere() ? onreadBackend : netBackend;
    default: return choice satisfies never;
  }
}

function worksHere(): Promise<boolean> {
  const kind = path.extname(import.meta.filename);
  const program = path.join(import.meta.dirname, `self-test${kind}`);
  return new Promise((resolve) => {
    // TypeScript needs what this process runs it with.
    const args = [...kind === '.ts' ? process.execArgv : [], program];
    execFile(process.execPath, args, { timeout: SELF_TEST_MS, killSignal: 'SIGKILL' }, (error, stdout) => resolve(!error && stdout === 'works'));
  });
}
