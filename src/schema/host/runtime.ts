import type { HostState } from '../../engine/face.ts';
import type { Host } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';
import { Refusal, refusalsOf } from '../diagnosis/refusal-type.ts';
import { Health } from '../health/type.ts';
import { textOrNull } from '../values/empty.ts';

/** The running state of a host; if the engine has none, the stored state of the row. */
export function hostRuntime(row: Host, state: HostState | undefined): HostState {
  return state ?? { running: false, error: '', connections: 0, refusals: {}, rate: 0, inletBytes: Number(row.inletBytes), exportBytes: Number(row.exportBytes), health: null };
}

/** The running state of a host. */
export const HostRuntime = builder.objectRef<HostState>('HostRuntime').implement({
  description: 'What a host is doing now.',
  fields: (t) => ({
    running: t.exposeBoolean('running', { description: 'It serves: it is started, its client may serve, and its agent is connected, or the server itself dials its targets.' }),
    error: t.string({ nullable: true, description: "Why it doesn't although it is started; null = nothing is wrong.", resolve: (row) => textOrNull(row.error) }),
    connections: t.exposeInt('connections', { description: 'Open connections to its targets.' }),
    refusals: t.field({
      type: [Refusal],
      description: "Visitors' requests that were refused since the server started, by cause.",
      resolve: ({ refusals }) => refusalsOf(refusals),
    }),
    rate: t.expose('rate', { type: 'BytesPerSecond', description: 'Bytes moved in the last whole second, both directions.' }),
    inletBytes: t.expose('inletBytes', { type: 'Bytes', description: 'Bytes from visitors since the host was made.' }),
    exportBytes: t.expose('exportBytes', { type: 'Bytes', description: 'Bytes to visitors since the host was made.' }),
    health: t.field({
      type: Health, nullable: true, description: "The health of its targets; null = they are not checked, or the agent is away.", resolve: ({ health }) => health,
    }),
  }),
});
