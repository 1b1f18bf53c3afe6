import { isIP } from 'node:net';
import * as z from 'zod';

/** Maximum candidates of one side, which the other side sends packets to. */
export const MAX_CANDIDATES = 8;

/** The transports that can open a direct path. */
export const directWays = ['udp', 'tcp'] as const;
/** @see directWays */
export type DirectWay = (typeof directWays)[number];

/**
 * Signaling messages that visitor and agent exchange through the server to open a direct path, one per line. The stream that carries them stays
 * open as long as the path: when it ends, the path ends.
 */
export const directMessageSchema = z.discriminatedUnion('type', [
  /** First, from both sides. */
  z.object({
    type: z.literal('hello'),
    /** Part of the key material of this path: 32 bytes in hex. */
    nonce: z.string().regex(/^[0-9a-f]{64}$/),
    /** The transports that this side supports, best first; the visitor's first one that the agent also supports is used. */
    ways: z.array(z.enum(directWays)).min(1).max(directWays.length),
    /** Names this side's end of a UDP stream in its packets. */
    streamId: z.int().min(1).max(0x7fff_ffff),
    /** The server's ports that tell a sender its public address; the agent knows them from the server. */
    stunPorts: z.array(z.int().min(1).max(65_535)).max(2).default([]),
  }),
  /** Addresses at which this side may be reachable. */
  z.object({
    type: z.literal('candidates'),
    candidates: z.array(z.object({ host: z.string().max(45).refine((host) => isIP(host) !== 0), port: z.int().min(1).max(65_535) })).max(MAX_CANDIDATES),
  }),
]);
/** @see directMessageSchema */
export type DirectMessage = z.output<typeof directMessageSchema>;
