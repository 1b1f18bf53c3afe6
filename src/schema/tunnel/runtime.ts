import type { TunnelState, VisitorState } from '../../engine/face.ts';
import type { Tunnel } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';
import { Refusal, refusalsOf } from '../diagnosis/refusal-type.ts';
import { Health } from '../health/type.ts';
import { textOrNull } from '../values/empty.ts';
import { enumOf } from '../values/enum.ts';

/** The running state of a tunnel; if the engine has none, the stored state of the row. */
export function tunnelRuntime(row: Tunnel, state: TunnelState | undefined): TunnelState {
  return state ?? {
    running: false, error: '', connections: 0, refusals: {}, rate: 0, inletBytes: Number(row.inletBytes), exportBytes: Number(row.exportBytes), dropped: 0, visitors: [], health: null,
  };
}

/** How a visitor's connections go. */
const VisitorPath = enumOf('VisitorPath', "How a visitor's connections go.", {
  relay: 'Through the server.',
  direct: 'Past the server, over a direct path to the agent (P2P). Open ones may still go through the server.',
});

/** A program that is connected to a tunnel (`adit visit`). */
const Visitor = builder.objectRef<VisitorState>('TunnelVisitor').implement({
  description: 'A program that visits a tunnel (SECRET, P2P).',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'Its address as the server sees it.' }),
    path: t.field({ type: VisitorPath, description: 'How its new connections go.', resolve: ({ path }) => path }),
    since: t.field({ type: 'DateTime', description: 'When it connected.', resolve: ({ since }) => new Date(since) }),
  }),
});

/** The running state of a tunnel. */
export const TunnelRuntime = builder.objectRef<TunnelState>('TunnelRuntime').implement({
  description: 'What a tunnel is doing now.',
  fields: (t) => ({
    running: t.exposeBoolean('running', { description: 'It serves: its listener is open, or it needs none.' }),
    error: t.string({ nullable: true, description: "Why it isn't although the tunnel is started; null = nothing is wrong.", resolve: (row) => textOrNull(row.error) }),
    connections: t.exposeInt('connections', { description: 'Open connections of visitors.' }),
    visitors: t.field({ type: [Visitor], description: 'The programs that visit it (SECRET, P2P).', resolve: ({ visitors }) => visitors }),
    health: t.field({
      type: Health, nullable: true, description: 'The health of its targets; null = they are not checked, or the agent is away.', resolve: ({ health }) => health,
    }),
    refusals: t.field({
      type: [Refusal],
      description: "Visitors' connections that were refused since the server started, by cause.",
      resolve: ({ refusals }) => refusalsOf(refusals),
    }),
    rate: t.expose('rate', { type: 'BytesPerSecond', description: 'Bytes moved in the last whole second, both directions.' }),
    inletBytes: t.expose('inletBytes', { type: 'Bytes', description: 'Bytes from visitors since the tunnel was made.' }),
    exportBytes: t.expose('exportBytes', { type: 'Bytes', description: 'Bytes to visitors since the tunnel was made.' }),
    dropped: t.exposeFloat('dropped', { description: 'Datagrams that were dropped since the server started (UDP): too many waited, or their visitor was refused.' }),
  }),
});
