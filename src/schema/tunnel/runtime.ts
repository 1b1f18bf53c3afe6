import type { TunnelState } from '../../engine/face.ts';
import type { Tunnel } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';

/** The running state of a tunnel; of one that the engine doesn't know, what the row remembers. */
export function tunnelRuntime(row: Tunnel, state: TunnelState | undefined): TunnelState {
  return state ?? {
    running: false, error: '', connections: 0, rate: 0, inletBytes: Number(row.inletBytes), exportBytes: Number(row.exportBytes),
  };
}

/** What a tunnel is doing now. */
export const TunnelRuntime = builder.objectRef<TunnelState>('TunnelRuntime').implement({
  description: 'What a tunnel is doing now.',
  fields: (t) => ({
    running: t.exposeBoolean('running', { description: 'Its listener is open.' }),
    error: t.exposeString('error', { description: "Why it isn't although the tunnel is started; blank = nothing is wrong." }),
    connections: t.exposeInt('connections', { description: 'Open connections of visitors.' }),
    rate: t.expose('rate', { type: 'ByteCount', description: 'Bytes moved in the last whole second, both directions.' }),
    inletBytes: t.expose('inletBytes', { type: 'ByteCount', description: 'Bytes from visitors since the tunnel was made.' }),
    exportBytes: t.expose('exportBytes', { type: 'ByteCount', description: 'Bytes to visitors since the tunnel was made.' }),
  }),
});
