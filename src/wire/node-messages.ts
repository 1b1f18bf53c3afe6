import * as z from 'zod';
import { healthMessage } from './health.ts';
import type { MuxOptions } from './mux.ts';
import { label } from './peer-text.ts';
import { CREDIT, decodeVisitorRequest, isVisitorRequest, MOST_ADDRESS } from './visitor-request.ts';

/*
 * What the servers of an installation tell each other. Each has a session with every other one, over TLS 1.3, in which both prove that they have the key of
 * the installation (handshake.ts, role "node"). A server sends its messages, and opens its streams, on the session that it has dialed.
 */

/**
 * How both sides run the session. Signs of life, and how long a node may be silent, in ms: visitors wait for a node that is dead. The data connections of a link, and how
 * many of them each side uses for one client.
 */
export const NODE_SESSION = { heartbeatMs: 500, silenceMs: 2000, ofSeveralClients: { most: 1024, ofOwner: 64 } } as const satisfies MuxOptions;

/**
 * How links carry the bytes of visitors: all over TLS; or much of a stream over data connections in the clear, as between server and agent, which a network of the
 * operator's own allows. Everything else is on the session, which is always over TLS.
 */
export type NodeLinkKind = 'tls' | 'plain';

/** After this time without a sign of life, in ms, a node seems not to answer: no visitors are sent there, and its agents are notified. */
export const NODE_QUIET_MS = 800;

const name = z.string().regex(/^[\w.-]{1,63}$/);

/** How a node describes itself when it dials another one. */
export const nodeInfoSchema = z.object({
  name,
  version: label(64),
  /** Where it can be dialed itself: the TLS port of its bridge. */
  host: z.string().min(1).max(255),
  port: z.int().min(1).max(65_535),
  /** The port of its bridge without TLS, for agents. */
  bridgePort: z.int().min(1).max(65_535),
  /** The TLS port for agents; absent = the same as for nodes. */
  tlsPort: z.int().min(1).max(65_535).optional(),
});
/** @see nodeInfoSchema */
export type NodeInfo = z.output<typeof nodeInfoSchema>;

/**
 * The answer to it. `dataSession`: the session that data connections name in their handshake; absent = the node accepts none, since its links are `tls`.
 * `shortRequests`: it knows requests in the form of visitor-request.ts, which those of the version before don't.
 */
export const nodeWelcomeSchema = z.object({ name, dataSession: z.string().regex(/^[0-9a-f]{32}$/).optional(), shortRequests: z.boolean().default(false) });
/** @see nodeWelcomeSchema */
export type NodeWelcome = z.output<typeof nodeWelcomeSchema>;

/** Most elements of a list in one message: it fits a frame. */
export const NODE_LIST = 500;

/** A client whose agent is or was connected to the node: its id, the epoch of that, whether it is connected now, and whether it said that it ends. */
const home = z.tuple([z.int(), z.int().min(0), z.boolean(), z.boolean()]);

/** The side that sends it has the secret that replaces the one of the handshake (key-proof.ts). The other side answers with the same message. */
export const keyMessageSchema = z.object({ type: z.literal('key'), proof: z.string().max(64) });

/** Control messages between nodes. Unknown ones are ignored: a newer node may know more. */
export const nodeMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('homes'), homes: z.array(home).max(NODE_LIST) }),
  /** The homes of all agents that are connected to the node were sent. */
  z.object({ type: z.literal('allHomes') }),
  /** The state of these records has changed, as far as this node knows it. */
  z.object({ type: z.literal('changed'), records: z.array(z.tuple([z.enum(['client', 'tunnel', 'host']), z.int()])).max(NODE_LIST) }),
  /** An agent's report on the health of targets. */
  z.object({ type: z.literal('health'), clientId: z.int(), report: healthMessage }),
  /** The agent of a client, which is connected to this node, does not answer: perhaps it is cut off from the node. */
  z.object({ type: z.literal('doubt'), clientId: z.int() }),
  /** A visitor's address was allowed by a client's password. */
  z.object({ type: z.literal('allowed'), clientId: z.int(), address: z.string().max(64) }),
  /** The node wants the others to take over its clients, or no longer. */
  z.object({ type: z.literal('leaving'), on: z.boolean() }),
  /** The node has added to the log of changes. */
  z.object({ type: z.literal('committed') }),
  keyMessageSchema,
  /** Wrong guesses of secrets. */
  z.object({
    type: z.literal('guesses'),
    guesses: z.array(z.object({ credential: z.string().max(32), address: z.string().max(64), name: z.string().max(64) })).max(NODE_LIST),
  }),
  /** An administrator has ended the lockouts of a source. */
  z.object({ type: z.literal('freed'), source: z.object({ kind: z.enum(['address', 'name']), source: z.string().max(256) }) }),
  /** When the node was started, by the database's clock, and a hash of each setting that must be the same on all nodes. */
  z.object({ type: z.literal('settings'), startedAt: z.number(), settings: z.record(z.string().max(64), z.string().max(64)) }),
]);
/** @see nodeMessageSchema */
export type NodeMessage = z.output<typeof nodeMessageSchema>;

const ids = z.array(z.int()).max(NODE_LIST);

/** What a node opens a stream for. */
export const nodeRequestSchema = z.discriminatedUnion('kind', [
  /** The same as `VisitorRequest`, for nodes that do not know its short form. */
  z.object({
    kind: z.literal('visitor'),
    clientId: z.int(),
    of: z.enum(['tunnel', 'host']),
    id: z.int(),
    address: z.string().max(MOST_ADDRESS),
    port: z.int(),
    local: z.object({ address: z.string().max(MOST_ADDRESS), port: z.int() }).optional(),
    dataFollows: z.boolean(),
    passedOn: z.boolean().default(false),
    credit: z.int().min(CREDIT.least).max(CREDIT.most).optional(),
  }),
  z.object({ kind: z.literal('clients'), ids }),
  z.object({ kind: z.literal('tunnels'), ids }),
  z.object({ kind: z.literal('hosts'), ids }),
  /** The sessions of a client's agent that began at the node. */
  z.object({ kind: z.literal('agentSessions'), clientId: z.int() }),
  z.object({ kind: z.literal('traffic') }),
  /** What the node has counted for a client whose home it was until now. */
  z.object({ kind: z.literal('totals'), clientId: z.int() }),
  z.object({ kind: z.literal('connections'), clientId: z.int(), offset: z.int().min(0), limit: z.int().min(0) }),
  z.object({ kind: z.literal('closeConnection'), clientId: z.int(), id: z.int() }),
  z.object({ kind: z.literal('probe'), clientId: z.int(), target: z.string().max(300), timeoutMs: z.int().min(1).max(60_000) }),
]);

type AnyRequest = z.output<typeof nodeRequestSchema>;
/** @see nodeRequestSchema */
export type NodeRequest<K extends AnyRequest['kind'] = AnyRequest['kind']> = { [P in K]: Extract<AnyRequest, { readonly kind: P }> }[K];

/** The payload of OPEN for a request. @param rest the bytes after it */
export function encodeNodeRequest(request: NodeRequest, rest: Buffer = Buffer.alloc(0)): Buffer {
  const json = Buffer.from(JSON.stringify(request));
  const length = Buffer.alloc(2);
  length.writeUInt16BE(json.length);
  return Buffer.concat([length, json, rest]);
}

/** Parses the payload of OPEN; undefined = it is none that this version knows. */
export function decodeNodeRequest(payload: Buffer): { readonly request: NodeRequest; readonly rest: Buffer } | undefined {
  if (isVisitorRequest(payload)) return decodeVisitorRequest(payload);
  if (payload.length < 2) return undefined;
  const end = 2 + payload.readUInt16BE();
  const request = readRequest(payload.subarray(2, end));
  return request && { request, rest: payload.subarray(end) };
}

function readRequest(json: Buffer): NodeRequest | undefined {
  try {
    return nodeRequestSchema.safeParse(JSON.parse(json.toString())).data;
  } catch {
    return undefined; // not JSON
  }
}
