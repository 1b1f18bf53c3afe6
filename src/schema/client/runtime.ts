import type { ClientState } from '../../engine/face.ts';
import type { Client } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';
import { Refusal, refusalsOf } from '../diagnosis/refusal-type.ts';
import { textOrNull } from '../values/empty.ts';

/**
 * The running state of a client. If the engine has no state, because the agent has not connected since the server started, it is the
 * last state stored in the row.
 */
export function clientRuntime(row: Client, state: ClientState | undefined): ClientState {
  if (state !== undefined && state.lastOnlineAt !== null) return state;
  return {
    connected: state?.connected ?? false,
    address: row.lastAddress,
    localAddress: row.localAddress,
    version: row.agentVersion,
    connections: state?.connections ?? 0,
    refusals: state?.refusals ?? {},
    rate: state?.rate ?? 0,
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
