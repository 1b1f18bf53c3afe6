import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { expect } from '@jest/globals';
import { hashOf, receive, type Received, sendPayload } from './payload.ts';
import { startTarget, type Target } from './target.ts';

/** Which way the bytes of a stream go, from the visitor's side. */
export type Kind = 'download' | 'upload' | 'both';

/** A stream whose bytes are checked by their hash, at both ends. */
export interface Stream {
  readonly bytes: number;
  readonly kind: Kind;
  /** Whether those who read take their time. */
  readonly slow: boolean;
  /** Tells the streams of a test apart, and what they carry. */
  readonly seed: number;
}

/** What a target received, as hashes, by seed. */
export type Seen = Map<number, string>;

/** The 36 streams: six sizes from one byte on, each way, and both at once, with quick and with slow readers. */
export function standardStreams(longest: number): Stream[] {
  const sizes = [1, 1000, 65_536, 300_000, 700_000, longest];
  return sizes.flatMap((bytes) => (['download', 'upload', 'both'] as const).flatMap((kind) => [false, true].map((slow) => ({ bytes, kind, slow }))))
    .map((stream, index) => ({ ...stream, seed: index + 1 }));
}

const HEAD_BYTES = 40;

/** A target that sends, checks, or does both at once, as the visitor asks in its first bytes. */
export function startPartner(seen: Seen): Promise<Target> {
  return startTarget((socket) => answer(socket, seen).catch(() => socket.destroy()));
}

/** Serves one connection as {@link startPartner} does. @throws when it breaks */
export async function answer(socket: Duplex, seen: Seen): Promise<void> {
  const [kind, bytes, seed, slow] = (await readHead(socket)).split(' ');
  const receiving = kind === 'download' ? undefined : receive(socket, slow === 'true');
  if (!receiving) socket.resume();
  if (kind !== 'upload') await sendPayload(socket, Number(bytes), Number(seed));
  if (receiving) seen.set(Number(seed), (await receiving).hash);
  socket.end();
}

/** A stream over a connection to a partner. @returns what the visitor received */
export async function runOn(socket: Duplex, { bytes, kind, slow, seed }: Stream): Promise<Received> {
  socket.write(`${kind} ${bytes} ${seed} ${slow}`.padEnd(HEAD_BYTES));
  const sending = kind === 'download' ? Promise.resolve() : sendPayload(socket, bytes, seed);
  const received = await receive(socket, slow);
  await sending;
  socket.end();
  if (!socket.closed) await once(socket, 'close');
  return received;
}

/** Asserts that a stream arrived as it was sent. @param received by the visitor */
export function expectIntact({ bytes, kind, seed }: Stream, received: Received, seen: Seen): void {
  const whole = { bytes, hash: wholeHash(bytes, seed) };
  if (kind !== 'upload') expect(received).toEqual(whole);
  if (kind !== 'download') expect(seen.get(seed)).toBe(whole.hash);
}

const hashes = new Map<string, string>();

/** Streams of many tests carry the same. */
function wholeHash(bytes: number, seed: number): string {
  const key = `${bytes} ${seed}`;
  const known = hashes.get(key) ?? hashOf(bytes, seed);
  hashes.set(key, known);
  return known;
}

/** What the visitor wants, in its first bytes. */
async function readHead(socket: Duplex): Promise<string> {
  for (;;) {
    await once(socket, 'readable');
    const head: Buffer | null = socket.read(HEAD_BYTES);
    if (head) return head.toString('latin1').trim();
  }
}
