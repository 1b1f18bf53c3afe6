import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ByteSocket } from './socket.ts';

/** The side of a session between servers: the one that dialed it, or the other one. */
export type NodeSide = 'dialer' | 'acceptor';

/** Proves over a TLS connection, after its handshake, that this side has another key. Nobody can use it on another connection. @returns undefined = the connection was lost */
export function keyProof(socket: ByteSocket, key: string, side: NodeSide): Buffer | undefined {
  const channel = socket.channelSecret?.();
  return channel && createHmac('sha256', key).update(`adit key of ${side}`).update(channel).digest();
}

/** Whether that is the proof of the other side. @param proof base64 */
export function isKeyProof(socket: ByteSocket, key: string, side: NodeSide, proof: string): boolean {
  const expected = keyProof(socket, key, side);
  const given = Buffer.from(proof, 'base64');
  return expected !== undefined && given.length === expected.length && timingSafeEqual(given, expected);
}
