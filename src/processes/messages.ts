import * as z from 'zod';

/** All its ports are open. The text is the ready message of a server, the line says what this process is among the others. */
const ready = z.object({ type: z.literal('ready'), text: z.string(), line: z.string() });
/** @see ready */
export type Ready = z.output<typeof ready>;

const port = z.int().min(0).max(65_535);

/** What a server process says to the one that has started it. */
export const processMessageSchema = z.discriminatedUnion('type', [
  /** It wants to listen on a port together with the others. The answer has a handle, or the name of a system error. */
  z.object({ type: z.literal('share'), id: z.int(), purpose: z.string(), host: z.string(), port }),
  /** It no longer listens there. */
  z.object({ type: z.literal('unshare'), purpose: z.string(), host: z.string(), port }),
  /** It wants to have a port alone. The answer says whether it has it; otherwise it asks until `release`. @see UdpOwners.claim for `now` */
  z.object({ type: z.literal('claim'), id: z.int(), name: z.string(), now: z.boolean() }),
  z.object({ type: z.literal('release'), name: z.string() }),
  ready,
  /** Its event loop runs. */
  z.object({ type: z.literal('alive') }),
]);
/** @see processMessageSchema */
export type ProcessMessage = z.output<typeof processMessageSchema>;

/** What the process that has started them sends to the server processes. */
export const supervisorMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('shared'), id: z.int(), problem: z.string() }),
  z.object({ type: z.literal('claimed'), id: z.int(), owned: z.boolean() }),
  /** It has a port from now on that it has asked for. */
  z.object({ type: z.literal('granted'), name: z.string() }),
  /** It is to drain and end. */
  z.object({ type: z.literal('stop') }),
]);
/** @see supervisorMessageSchema */
export type SupervisorMessage = z.output<typeof supervisorMessageSchema>;
