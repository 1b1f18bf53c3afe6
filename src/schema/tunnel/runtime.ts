import type { TunnelState, VisitorState } from '../../engine/face.ts';
import type { Tunnel } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';
import { Refusal, refusalsOf } from '../diagnosis/refusal-type.ts';
import { Health } from '../health/type.ts';
import { textOrNull } from '../values/empty.ts';
import { enumOf } from '../values/enum.ts';

/** The running state of a tunnel: from the engine, or else the state stored in the row. */
export function tunnelRuntime(row: Tunnel, state: TunnelState | undefined): TunnelState {
  return state ?? {
    running: false,
    error: '',
    connections: 0,
    refusals: {},
    rate: 0,
    inletRate: 0,
    exportRate: 0,
    inletBytes: Number(row.inletBytes),
    exportBytes: Number(row.exportBytes),
    dropped: 0,
    visitors: [],
    health: null,
  };
}

/** The path of visitors' connections. */
const VisitorPath = enumOf('VisitorPath', "The path of a visitor program's connections.", {
  relay: 'Through the server.',
  direct: 'Directly to the agent (P2P). Connections opened earlier may still go through the server.',
});

/** A program that is connected to a tunnel (`adit visit`). */
const Visitor = builder.objectRef<VisitorState>('TunnelVisitor').implement({
  description: 'A visitor program connected to a SECRET or P2P tunnel.',
  fields: (t) => ({
    address: t.exposeString('address', { description: "The program's address, as seen by the server." }),
    path: t.field({ type: VisitorPath, description: 'The path of its new connections.', resolve: ({ path }) => path }),
    since: t.field({ type: 'DateTime', description: 'When it connected.', resolve: ({ since }) => new Date(since) }),
  }),
});

/** The running state of a tunnel. */
export const TunnelRuntime = builder.objectRef<TunnelState>('TunnelRuntime').implement({
  description: 'The current state of a tunnel.',
  fields: (t) => ({
    running: t.exposeBoolean('running', { description: 'Whether the tunnel serves: its listener is open, or it needs none.' }),
    error: t.string({ nullable: true, description: 'Why a started tunnel does not run; null = no error.', resolve: (row) => textOrNull(row.error) }),
    connections: t.exposeInt('connections', { description: "The number of visitors' open connections." }),
    visitors: t.field({ type: [Visitor], description: 'The visitor programs that are connected (SECRET, P2P).', resolve: ({ visitors }) => visitors }),
    health: t.field({
      type: Health,
      nullable: true,
      description: 'The health of the targets; null = they are not checked, or the agent is not connected.',
      resolve: ({ health }) => health,
    }),
    refusals: t.field({
      type: [Refusal],
      description: "Visitors' connections refused since the server started, by cause.",
      resolve: ({ refusals }) => refusalsOf(refusals),
    }),
    rate: t.expose('rate', { type: 'BytesPerSecond', description: 'Bytes transferred in the last full second, in both directions.' }),
    inletRate: t.expose('inletRate', { type: 'BytesPerSecond', description: 'Bytes from visitors in the last full second.' }),
    exportRate: t.expose('exportRate', { type: 'BytesPerSecond', description: 'Bytes to visitors in the last full second.' }),
    inletBytes: t.expose('inletBytes', { type: 'Bytes', description: 'Bytes from visitors since the tunnel was created.' }),
    exportBytes: t.expose('exportBytes', { type: 'Bytes', description: 'Bytes to visitors since the tunnel was created.' }),
    dropped: t.exposeFloat('dropped', {
      description: 'Datagrams dropped since the server started because a queue was full or the visitor was refused. UDP only.',
    }),
  }),
});
