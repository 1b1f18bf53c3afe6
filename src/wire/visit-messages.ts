import * as z from 'zod';
import { label } from './peer-text.ts';
import { byeSchema, sessionWelcome } from './session-messages.ts';

/** How visitors reach a tunnel that requires a password: through the server only, or by a direct path when one can be opened. */
const visitTypes = ['secret', 'p2p'] as const;
/** @see visitTypes */
export type VisitType = (typeof visitTypes)[number];

/** The path of a visitor's connections: through the server, or direct. */
const visitPaths = ['relay', 'direct'] as const;
/** @see visitPaths */
export type VisitPath = (typeof visitPaths)[number];

/** The payload of OPEN by which a visitor asks for a direct path instead of a connection. */
export const ASK_DIRECT = Buffer.from('direct');

/** What a visitor sends in its handshake. */
export const visitorInfoSchema = z.object({
  version: label(64).default(''),
  /** The type of the tunnel that it visits. */
  type: z.enum(visitTypes),
});
/** @see visitorInfoSchema */
export type VisitorInfo = z.output<typeof visitorInfoSchema>;

/** What the server sends when it accepts a visitor. */
export const visitWelcomeSchema = sessionWelcome.extend({
  tunnelId: z.number().int(),
  /** The agent is connected. */
  agentOnline: z.boolean(),
});
/** @see visitWelcomeSchema */
export type VisitWelcome = z.output<typeof visitWelcomeSchema>;

/** Control messages from the server to a visitor. Unknown ones are ignored. */
export const toVisitorSchema = z.discriminatedUnion('type', [
  byeSchema,
  z.object({ type: z.literal('drain') }),
  /** The agent connected or disconnected. */
  z.object({ type: z.literal('agent'), online: z.boolean() }),
]);
/** @see toVisitorSchema */
export type ToVisitor = z.output<typeof toVisitorSchema>;

/** Control messages from a visitor. Unknown ones are ignored. */
export const fromVisitorSchema = z.discriminatedUnion('type', [
  byeSchema,
  z.object({ type: z.literal('drain') }),
  /** The path of its new connections from now on. */
  z.object({ type: z.literal('path'), path: z.enum(visitPaths) }),
]);
/** @see fromVisitorSchema */
export type FromVisitor = z.output<typeof fromVisitorSchema>;
