import * as z from 'zod';
import { declarationSchema } from './declaration.ts';
import { healthMessage } from './health.ts';
import { label } from './peer-text.ts';
import { byeSchema } from './session-messages.ts';
import { pingSchema, pongSchema } from './standby-messages.ts';

/** What an agent sends. Only the server reads it, so an agent does without these schemas. */

/** The information about itself that an agent sends in its handshake. */
export const agentInfoSchema = z.object({
  version: label(64).default(''),
  /** LAN addresses of its machine, comma-separated. */
  localAddress: label(255).default(''),
  /** It runs in configuration-file mode: it declares tunnels and hosts. */
  configFile: z.boolean().default(false),
  /** It respects the initial credit in a request (`OpenRequest.credit`). */
  credit: z.boolean().default(false),
  /** It answers pings. */
  answersPings: z.boolean().default(false),
});
/** @see agentInfoSchema */
export type AgentInfo = z.output<typeof agentInfoSchema>;

/** Control messages from the agent. Unknown ones are ignored. */
export const agentMessageSchema = z.discriminatedUnion('type', [
  byeSchema,
  pingSchema,
  pongSchema,
  /** The agent is shutting down: open no new streams. */
  z.object({ type: z.literal('drain') }),
  /** Bytes that direct paths of a tunnel carried since the last message. */
  z.object({ type: z.literal('traffic'), tunnelId: z.int(), inlet: z.int().min(0), exported: z.int().min(0) }),
  healthMessage,
  ...declarationSchema.options,
  /** Requests the overview of this client's tunnels and hosts; one that comes too early is answered later (`OVERVIEW_MS`). */
  z.object({ type: z.literal('overview') }),
]);
/** @see agentMessageSchema */
export type AgentMessage = z.output<typeof agentMessageSchema>;
