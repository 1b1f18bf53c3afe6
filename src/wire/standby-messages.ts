import * as z from 'zod';

/*
 * An agent keeps a second session with another server than its own. It carries no streams. By it the agent learns that its own server does not answer any more, long before
 * it would notice that it hears nothing.
 */

/** Signs of life of both sides of such a session, in ms. */
export const STANDBY_BEATS_MS = 15_000;

/** The server of the agent seems not to answer: the agent should ask it. */
export const doubtSchema = z.object({ type: z.literal('doubt') });
/** @see doubtSchema */
export type Doubt = z.output<typeof doubtSchema>;

/** The other side is to answer at once with a pong. */
export const pingSchema = z.object({ type: z.literal('ping') });
/** @see pingSchema */
export type Ping = z.output<typeof pingSchema>;

/** The answer to a ping. */
export const pongSchema = z.object({ type: z.literal('pong') });
/** @see pongSchema */
export type Pong = z.output<typeof pongSchema>;
