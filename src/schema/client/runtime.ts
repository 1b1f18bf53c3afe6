import type { ClientState } from '../../engine/face.ts';
import type { Client } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';
import { Refusal, refusalsOf } from '../diagnosis/refusal-type.ts';
import { textOrNull } from '../values/empty.ts';

/**
 * The running state of a client. If the engine has no state yet, because the agent has not connected since the server started, the
 * last state that was stored in the row is used.
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
  description: 'What a client is doing now.',
  fields: (t) => ({
    connected: t.exposeBoolean('connected', { description: 'An agent is connected.' }),
    address: t.string({ nullable: true, description: "The agent's address as the server saw it last, without port; null = never seen.", resolve: (row) => textOrNull(row.address) }),
    localAddress: t.string({ nullable: true, description: 'The addresses in its own network that the agent reported last; null = it never came, or reported none.', resolve: (row) => textOrNull(row.localAddress) }),
    version: t.string({ nullable: true, description: "The agent's version, as last reported; null = it never came.", resolve: (row) => textOrNull(row.version) }),
    connections: t.exposeInt('connections', { description: 'Open connections of visitors.' }),
    refusals: t.field({
      type: [Refusal],
      description: "Visitors' connections that were refused since the server started, by cause.",
      resolve: ({ refusals }) => refusalsOf(refusals),
    }),
    rate: t.expose('rate', { type: 'BytesPerSecond', description: 'Bytes moved in the last whole second, both directions.' }),
    inletBytes: t.expose('inletBytes', { type: 'Bytes', description: 'Bytes from visitors since the client was made.' }),
    exportBytes: t.expose('exportBytes', { type: 'Bytes', description: 'Bytes to visitors since the client was made.' }),
    lastOnlineAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the agent was last connected; null = never.',
      resolve: ({ lastOnlineAt }) => lastOnlineAt === null ? null : new Date(lastOnlineAt),
    }),
  }),
});
