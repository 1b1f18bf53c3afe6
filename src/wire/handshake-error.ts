import * as z from 'zod';
import { label } from './peer-text.ts';

/** A refusal in words for the agent's operator. */
export const refusalSchema = z.object({
  code: label(64),
  text: label(1000),
  /** Ms to wait before the next attempt. */
  retryAfterMs: z.number().int().min(0).optional(),
  /** Reconnect over TLS: the port on the same server, and the SHA-256 fingerprint of the certificate there. */
  tls: z.object({ port: z.number().int().min(1).max(65_535), fingerprint: z.string().regex(/^[0-9a-f]{64}$/) }).optional(),
});
/** @see refusalSchema */
export type Refusal = z.infer<typeof refusalSchema>;

/** Why a handshake failed. */
export type HandshakeErrorCode =
  /** Not our protocol. */
  | 'garbage'
  /** The protocol of NPS-family agents. */
  | 'npc'
  /** Another version of our protocol. */
  | 'version'
  | 'timeout'
  /** The connection ended. */
  | 'closed'
  /** The server refused the connection: see `refusal`. */
  | 'refused'
  /** The server does not know the key. */
  | 'impostor';

/** A handshake that failed; the message is for people. */
export class HandshakeError extends Error {
  override readonly name = 'HandshakeError';
  readonly code: HandshakeErrorCode;
  readonly refusal: Refusal | undefined;

  constructor(code: HandshakeErrorCode, message: string, options: { cause?: unknown; refusal?: Refusal } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.refusal = options.refusal;
  }
}
