import type { HostState } from '../../engine/face.ts';
import type { Host } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';
import { Refusal, refusalsOf } from '../diagnosis/refusal-type.ts';
import { Health } from '../health/type.ts';
import { textOrNull } from '../values/empty.ts';

/** The running state of a host: from the engine, or else the state stored in the row. */
export function hostRuntime(row: Host, state: HostState | undefined): HostState {
  return state
    ?? {
      running: false,
      error: '',
      connections: 0,
      refusals: {},
      rate: 0,
      inletRate: 0,
      exportRate: 0,
      inletBytes: Number(row.inletBytes),
      exportBytes: Number(row.exportBytes),
      health: null,
    };
}

/** The running state of a host. */
export const HostRuntime = builder.objectRef<HostState>('HostRuntime').implement({
  description: 'The current state of a host.',
  fields: (t) => ({
    running: t.exposeBoolean('running', {
      description: 'Whether the host serves: it is started, its client is enabled, and the agent is connected or the server dials the targets itself.',
    }),
    error: t.string({ nullable: true, description: 'Why a started host does not run; null = no error.', resolve: (row) => textOrNull(row.error) }),
    connections: t.exposeInt('connections', { description: 'The number of open connections to the targets.' }),
    refusals: t.field({
      type: [Refusal],
      description: "Visitors' requests refused since the server started, by cause.",
      resolve: ({ refusals }) => refusalsOf(refusals),
    }),
    rate: t.expose('rate', { type: 'BytesPerSecond', description: 'Bytes transferred in the last full second, in both directions.' }),
    inletRate: t.expose('inletRate', { type: 'BytesPerSecond', description: 'Bytes from visitors in the last full second.' }),
    exportRate: t.expose('exportRate', { type: 'BytesPerSecond', description: 'Bytes to visitors in the last full second.' }),
    inletBytes: t.expose('inletBytes', { type: 'Bytes', description: 'Bytes from visitors since the host was created.' }),
    exportBytes: t.expose('exportBytes', { type: 'Bytes', description: 'Bytes to visitors since the host was created.' }),
    health: t.field({
      type: Health,
      nullable: true,
      description: 'The health of the targets; null = they are not checked, or the agent is not connected.',
      resolve: ({ health }) => health,
    }),
  }),
});
