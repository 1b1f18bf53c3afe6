import type { ClientState } from '../../engine/face.ts';
import type { Client } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';
import { Refusal, refusalsOf } from '../diagnosis/refusal-type.ts';
import { AgentEndReason } from '../agent-session/type.ts';
import { textOrNull } from '../values/empty.ts';

/**
 * The running state of a client. If the engine has no state, because the agent has not connected since the server started, it is the
 * last state stored in the row.
 */
export function clientRuntime(row: Client, state: ClientState | undefined): ClientState {
  if (state !== undefined && state.lastOnlineAt !== null) return state;
  return {
    connected: state?.connected ?? false,
    connectedSince: state?.connectedSince ?? null,
    lastHeardAt: state?.lastHeardAt ?? null,
    secure: state?.secure ?? false,
    end: state?.end ?? null,
    address: row.lastAddress,
    localAddress: row.localAddress,
    version: row.agentVersion,
    connections: state?.connections ?? 0,
    refusals: state?.refusals ?? {},
    rate: state?.rate ?? 0,
    inletRate: state?.inletRate ?? 0,
    exportRate: state?.exportRate ?? 0,
    inletBytes: state?.inletBytes ?? Number(row.inletBytes),
    exportBytes: state?.exportBytes ?? Number(row.exportBytes),
    lastOnlineAt: row.lastOnlineAt?.getTime() ?? null,
  };
}

/** The running state of a client. */
export const ClientRuntime = builder.objectRef<ClientState>('ClientRuntime').implement({
  description: 'The current state of a client.',
  fields: (t) => ({
    connected: t.exposeBoolean('connected', { description: 'Whether an agent is connected.' }),
    connectedSince: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the agent connected; null = it is not connected.',
      resolve: ({ connectedSince }) => connectedSince === null ? null : new Date(connectedSince),
    }),
    lastHeardAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the agent was last heard: it sends something every few seconds; null = it is not connected.',
      resolve: ({ lastHeardAt }) => lastHeardAt === null ? null : new Date(lastHeardAt),
    }),
    home: t.string({
      nullable: true,
      description: 'The `name` of the server (`nodes`) that the agent is connected to; null = it is not connected, or there is only one server.',
      resolve: ({ home }) => home,
    }),
    secure: t.exposeBoolean('secure', { description: 'Whether an agent is connected over TLS.' }),
    endReason: t.field({
      type: AgentEndReason,
      nullable: true,
      description: "Why the agent's last session ended; null = it is connected, or has not been connected since the server started.",
      resolve: ({ connected, end }) => connected ? null : end,
    }),
    address: t.string({
      nullable: true,
      description: 'The address that the agent last connected from, without port; null = it has never connected.',
      resolve: (row) => textOrNull(row.address),
    }),
    localAddress: t.string({
      nullable: true,
      description: 'The addresses in its local network that the agent last reported; null = none.',
      resolve: (row) => textOrNull(row.localAddress),
    }),
    version: t.string({
      nullable: true,
      description: 'The version that the agent last reported; null = it has never connected.',
      resolve: (row) => textOrNull(row.version),
    }),
    connections: t.exposeInt('connections', { description: "The number of visitors' open connections." }),
    refusals: t.field({
      type: [Refusal],
      description: "Visitors' connections refused since the server started, by cause.",
      resolve: ({ refusals }) => refusalsOf(refusals),
    }),
    rate: t.expose('rate', { type: 'BytesPerSecond', description: 'Bytes transferred in the last full second, in both directions.' }),
    inletRate: t.expose('inletRate', { type: 'BytesPerSecond', description: 'Bytes from visitors in the last full second.' }),
    exportRate: t.expose('exportRate', { type: 'BytesPerSecond', description: 'Bytes to visitors in the last full second.' }),
    inletBytes: t.expose('inletBytes', { type: 'Bytes', description: 'Bytes from visitors since the client was created.' }),
    exportBytes: t.expose('exportBytes', { type: 'Bytes', description: 'Bytes to visitors since the client was created.' }),
    lastOnlineAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the agent was last connected; null = never.',
      resolve: ({ lastOnlineAt }) => lastOnlineAt === null ? null : new Date(lastOnlineAt),
    }),
  }),
});
