import { createHash } from 'node:crypto';
import type net from 'node:net';
import { failureBehindEnd } from '../../../src/wire/failure-behind-end.ts';
import { hashOf, sendPayload } from '../payload.ts';

/** What arrived is not what was sent, and nothing said so: never excused. */
export class WrongBytes extends Error {
  override readonly name: string = 'WrongBytes';
}

/** It ended too early, and nothing said so: excused only when the program that the transfer was made with was killed, whose connections the kernel ends. */
export class CutShort extends WrongBytes {
  override readonly name = 'CutShort';
}

/** One kind of traffic through a tunnel or host. */
export interface Traffic {
  /** "socks5", say. */
  readonly name: string;
  /**
   * One transfer of about so many bytes, hash-checked, from its connection to its end; `seed` makes its bytes its own.
   * @throws {WrongBytes} when what came back differs, and any other error when it did not get through
   */
  run(bytes: number, seed: number): Promise<void>;
}

/** @throws {WrongBytes} unless these are the bytes of that payload */
export function check(received: AsyncIterable<unknown> | Iterable<unknown>, bytes: number, seed: number): Promise<void> {
  return checkHash(received, bytes, hashOf(bytes, seed));
}

/** @throws {WrongBytes} unless these are so many bytes with that SHA-256, in hex */
export async function checkHash(received: AsyncIterable<unknown> | Iterable<unknown>, bytes: number, wanted: string): Promise<void> {
  const hash = createHash('sha256');
  let came = 0;
  for await (const chunk of received) {
    if (!Buffer.isBuffer(chunk)) throw new Error('a chunk that is no buffer');
    hash.update(chunk);
    came += chunk.length;
  }
  // Nothing at all and then the end is how a port says that nobody is there.
  if (came === 0 && bytes > 0) throw new Error('closed before a byte came');
  if (came < bytes) throw new CutShort(`ended cleanly after ${came} of ${bytes} bytes`);
  if (came > bytes) throw new WrongBytes(`${came} instead of ${bytes} bytes`);
  if (hash.digest('hex') !== wanted) throw new WrongBytes(`${bytes} other bytes than were sent`);
}

/** Sends a payload through a connection to something that sends everything back, ends, and checks what comes until the other end does. */
export async function echoThrough(socket: net.Socket, bytes: number, seed: number): Promise<void> {
  socket.on('error', () => undefined); // the reader gets the error
  let failure: Error | undefined;
  socket.once('end', () => {
    failure = failureBehindEnd(socket);
  });
  try {
    const sent = sendPayload(socket, bytes, seed).catch(() => undefined);
    await check(socket, bytes, seed).catch((error: unknown) => {
      throw failure ?? error;
    });
    await sent;
  } finally {
    socket.destroy();
  }
}
