import type { Tunnel } from '../../store/generated/sqlite/client.ts';
import { usableTunnel } from '../access.ts';
import type { Context } from '../context.ts';
import { writeWithPort } from './listener.ts';
import { checkMode } from './mode.ts';

/** /index/start/ (contract 2.4). One that is started but couldn't open its port tries again (contract D6). */
export function startTunnel(context: Context, id: number): Promise<Tunnel> {
  return writeWithPort(context, async (tx, changed, leasePort) => {
    const { client: _, ...before } = await usableTunnel(context, tx, id);
    const [state] = before.enabled ? await context.engine.tunnelStates([id]) : [];
    if (state?.running === true) return before;
    checkMode(context, before.mode);
    const lease = await leasePort({ ...before, replaces: id });
    const after = await tx.tunnel.update({ where: { id }, data: { enabled: true, port: lease?.port ?? 0 } });
    changed({ resource: 'tunnel', action: 'update', before, after, lease });
    return after;
  }, { alone: true, starts: true });
}

/** /index/stop/ (contract 2.4, D6): stopping a stopped one is a success. */
export function stopTunnel(context: Context, id: number): Promise<Tunnel> {
  return context.write(async (tx, changed) => {
    const { client: _, ...before } = await usableTunnel(context, tx, id);
    const after = await tx.tunnel.update({ where: { id }, data: { enabled: false } });
    changed({ resource: 'tunnel', action: 'update', before, after });
    return after;
  });
}
