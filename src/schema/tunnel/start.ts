import type { Tunnel } from '../../store/generated/sqlite/client.ts';
import { usableTunnel } from '../access.ts';
import type { Context } from '../context.ts';
import { leasePort, releasePort } from './listener.ts';
import { checkMode } from './quota.ts';

/** Spec /index/start/. One that is started but couldn't open its port tries again (contract D6). */
export function startTunnel(context: Context, id: number): Promise<Tunnel> {
  return context.change(async () => {
    const { client: _, ...before } = await usableTunnel(context, context.store.db, id);
    const [state] = before.enabled ? await context.engine.tunnelStates([id]) : [];
    if (state?.running === true) return before;
    checkMode(context, before.mode);
    const lease = await leasePort(context, { ...before, replaces: id });
    try {
      const after = await context.store.db.tunnel.update({ where: { id }, data: { enabled: true, port: lease?.port ?? 0 } });
      await context.publish({ resource: 'tunnel', action: 'update', before, after, lease });
      return after;
    } finally {
      await releasePort(context, lease);
    }
  });
}

/** Spec /index/stop/, contract D6: stopping a stopped one is a success. */
export function stopTunnel(context: Context, id: number): Promise<Tunnel> {
  return context.change(async () => {
    const { client: _, ...before } = await usableTunnel(context, context.store.db, id);
    const after = await context.store.db.tunnel.update({ where: { id }, data: { enabled: false } });
    await context.publish({ resource: 'tunnel', action: 'update', before, after });
    return after;
  });
}
