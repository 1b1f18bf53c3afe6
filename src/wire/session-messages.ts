import * as z from 'zod';
import { declaredSchema } from './declared.ts';
import { otherServersSchema } from './other-servers.ts';
import { overviewSchema } from './overview.ts';
import { label, values } from './peer-text.ts';
import { pingSchema, pongSchema } from './standby-messages.ts';

/** What the server sends to every peer that it accepts. */
export const sessionWelcome = z.object({
  /** Names the session in the handshakes of its data connections. */
  sessionId: z.string().regex(/^[0-9a-f]{32}$/),
  /** Interval of the keep-alive of both sides, in ms. */
  heartbeatMs: z.number().int().min(10).max(60_000),
  /** Both sides compress what they send. */
  compress: z.boolean().default(false),
});
/** @see sessionWelcome */
export type SessionWelcome = z.output<typeof sessionWelcome>;

/** The server's message when it accepts an agent. */
export const welcomeSchema = sessionWelcome.extend({
  clientId: z.number().int(),
  /** It answers pings, which servers of version 0.1 do not. */
  answersPings: z.boolean().default(false),
});
/** @see welcomeSchema */
export type Welcome = z.output<typeof welcomeSchema>;

/** The last message of either side. */
export const byeSchema = z.object({
  /** The session ends now. */
  type: z.literal('bye'),
  code: label(64),
  /** Why, for people. */
  text: label(1000),
});

/** From now on both sides compress the data that they send, or stop doing so. */
const compress = z.object({ type: z.literal('compress'), on: z.boolean() });

/** Control messages from the server in every session, of agents and visitors. */
export const sessionMessageSchema = z.discriminatedUnion('type', [byeSchema, compress, otherServersSchema, pingSchema, pongSchema]);

/** Control messages from the server. Unknown ones are ignored: a newer server may know more. */
export const serverMessageSchema = z.discriminatedUnion('type', [
  byeSchema,
  compress,
  otherServersSchema,
  pingSchema,
  pongSchema,
  /** The server opens no new streams; open ones may finish until it closes the session. */
  z.object({ type: z.literal('drain') }),
  /** The targets of a tunnel that direct paths lead to have changed. */
  z.object({ type: z.literal('targets'), tunnelId: z.int(), targets: values(5000, 300) }),
  declaredSchema,
  overviewSchema,
]);
/** @see serverMessageSchema */
export type ServerMessage = z.output<typeof serverMessageSchema>;
