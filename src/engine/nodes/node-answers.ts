import * as z from 'zod';
import {
  type AgentSessionState,
  type ClientState,
  type ConnectionsPage,
  type ConnectionState,
  type HostState,
  refusalCauses,
  sessionEnds,
  type Traffic,
  type TunnelState,
} from '../face.ts';
import type { ClientTotals } from '../other-nodes.ts';

/* The answers of other nodes, which have the types of face.ts. */

const bytes = { inletBytes: z.number(), exportBytes: z.number() };
const traffic = { connections: z.number(), rate: z.number(), inletRate: z.number(), exportRate: z.number(), ...bytes };
const refusals = z.partialRecord(z.enum(refusalCauses), z.number());

const health = z.object({
  type: z.enum(['tcp', 'http']),
  intervalMs: z.number(),
  timeoutMs: z.number(),
  maxFailed: z.number(),
  path: z.string(),
  targets: z.array(z.object({ target: z.string(), healthy: z.boolean(), failures: z.number(), since: z.number().nullable(), lastError: z.string() })),
}).nullable();

/** The state of clients; null = the node knows none. */
export const clientAnswers: z.ZodType<Array<ClientState | null>> = z.array(
  z.object({
    connected: z.boolean(),
    connectedSince: z.number().nullable(),
    lastHeardAt: z.number().nullable(),
    secure: z.boolean(),
    end: z.enum(sessionEnds).nullable(),
    address: z.string(),
    localAddress: z.string(),
    version: z.string(),
    refusals,
    lastOnlineAt: z.number().nullable(),
    ...traffic,
  }).nullable(),
);

/** The sessions of a client's agent at the node. */
export const agentSessionsAnswer: z.ZodType<AgentSessionState[]> = z.array(z.object({
  since: z.number(),
  until: z.number().nullable(),
  address: z.string(),
  version: z.string(),
  secure: z.boolean(),
  end: z.enum(sessionEnds).nullable(),
  endText: z.string(),
}));

/** The state of tunnels. */
export const tunnelAnswers: z.ZodType<Array<TunnelState | null>> = z.array(
  z.object({
    running: z.boolean(),
    error: z.string(),
    refusals,
    dropped: z.number(),
    visitors: z.array(z.object({ address: z.string(), since: z.number(), path: z.enum(['relay', 'direct']) })),
    health,
    ...traffic,
  }).nullable(),
);

/** The state of hosts. */
export const hostAnswers: z.ZodType<Array<HostState | null>> = z.array(
  z.object({ running: z.boolean(), error: z.string(), refusals, health, ...traffic }).nullable(),
);

/** The traffic of all clients whose home is there. */
export const trafficAnswer: z.ZodType<Traffic> = z.object(traffic);

const connection = z.object({
  id: z.number(),
  clientId: z.number(),
  through: z.object({ kind: z.enum(['tunnel', 'host']), id: z.number() }),
  address: z.string(),
  port: z.number(),
  since: z.number(),
  rate: z.number(),
  ...bytes,
});

/** A page of connections. */
export const connectionsAnswer: z.ZodType<ConnectionsPage> = z.object({ rows: z.array(connection), total: z.number() });

/** A connection that was closed; null = there is none. */
export const closedAnswer: z.ZodType<ConnectionState | null> = connection.nullable();

const counted = z.object({ id: z.number(), ...bytes });

/** The totals of a client; null = the node does not know it. */
export const totalsAnswer: z.ZodType<ClientTotals | null> = z.object({ client: z.object(bytes), tunnels: z.array(counted), hosts: z.array(counted) })
  .nullable();

/** Why a target could not be dialed. */
export const probeAnswer = z.string();
