import type { TunnelState } from '../../engine/face.ts';
import { mayUseClient } from '../../rules/ownership.ts';
import { proxyHeaderModes, transportOf } from '../../rules/tunnel-mode.ts';
import type { Tunnel } from '../../store/generated/sqlite/client.ts';
import type { Context } from '../context.ts';
import { found, type Finding, fix } from './findings.ts';
import { accessGate, agentGate, enabledGate, type Gate, ownerGate, passed, quotaGate, stopped, withRefusals } from './gates.ts';
import { probeTargets, targetGate, type TargetProbe } from './probe.ts';

/** The gates on the path of a connection to a tunnel. */
export interface TunnelDiagnosis {
  readonly tunnel: Tunnel;
  readonly probes: readonly TargetProbe[];
  readonly gates: readonly Gate[];
}

/** The modes whose tunnels have stored targets. For other modes each visitor names the target, or the tunnel serves files. */
const targetModes: readonly string[] = ['tcp', 'udp', 'secret', 'p2p'];
/** The modes for which a TCP dial is a meaningful test. */
const probedModes: readonly string[] = ['tcp', 'secret', 'p2p'];

/** The tunnel of the caller that visitors reach at a port: TCP and UDP can have the same one. @returns undefined = there is none */
export async function tunnelAt({ caller, store: { db } }: Context, port: number): Promise<number | undefined> {
  const tunnels = await db.tunnel.findMany({ where: { port }, include: { client: true }, orderBy: { id: 'asc' } });
  return tunnels.find(({ client }) => mayUseClient(caller, client))?.id;
}

/** @returns null if the tunnel doesn't exist or isn't the caller's */
export async function diagnoseTunnel(context: Context, id: number, visitorAddress: string | undefined, probe: boolean): Promise<TunnelDiagnosis | null> {
  const row = await context.store.db.tunnel.findUnique({ where: { id }, include: { client: { include: { user: true } } } });
  if (row === null || !mayUseClient(context.caller, row.client)) return null;
  const { client, ...tunnel } = row;
  const [enabled, owner] = [enabledGate('tunnel', tunnel.enabled, client), ownerGate(client, new Date(context.now()))];
  const [state, clientState] = await Promise.all([context.loaders.tunnelStates.load(id), context.loaders.clientStates.load(client.id)]);
  const agent = agentGate(context, client, clientState, tunnel.localProxy);
  const dials = probe && agent.outcome === 'PASSED' && !tunnel.localProxy && probedModes.includes(tunnel.mode);
  const probes = dials ? await probeTargets(context, client.id, tunnel.target) : [];
  return {
    tunnel,
    probes,
    gates: withRefusals([
      // A listener that is closed because of a later gate is not the reason.
      entryGate(context, tunnel, state, enabled.outcome === 'PASSED' && owner.outcome === 'PASSED'),
      enabled,
      owner,
      quotaGate(client, clientState),
      await accessGate(context, client, visitorAddress),
      agent,
      targetModes.includes(tunnel.mode) ? targetGate('tunnel', tunnel.target, state?.health, probes) : ownTargetGate(tunnel),
    ], state?.refusals ?? clientState?.refusals),
  };
}

/** The target gate of tunnels without stored targets. */
function ownTargetGate({ mode, localPath: path }: Tunnel): Gate {
  if (mode !== 'file') return passed('TARGET', found('TARGET_OF_VISITOR', { mode }));
  return path === '' ? stopped('TARGET', found('DIRECTORY_MISSING'), fix('SET_DIRECTORY')) : passed('TARGET', found('DIRECTORY_SERVED', { path }));
}

/** A stored setting that has no effect in this mode. */
function unused({ mode, proxyProtocol }: Tunnel): Finding[] {
  return proxyProtocol === '' || proxyHeaderModes.includes(mode) ? [] : [found('PROXY_PROTOCOL_UNUSED', { mode, modes: proxyHeaderModes.join(' and ') })];
}

function entryGate({ engine }: Context, tunnel: Tunnel, state: TunnelState | undefined, shouldRun: boolean): Gate {
  const { mode, port, password } = tunnel;
  if (!engine.modes.includes(mode)) return stopped('ROUTE', found('MODE_NOT_SERVED', { mode }), fix('CHANGE_MODE'));
  if (transportOf(mode) === undefined) {
    return password === ''
      ? stopped('ROUTE', found('PASSWORD_MISSING'), fix('SET_PASSWORD'))
      : passed('ROUTE', found('PASSWORD_ENTRY'), ...unused(tunnel));
  }
  if (!shouldRun || state?.running === true) return passed('ROUTE', found('PORT_ENTRY', { port }), ...unused(tunnel));
  const problem = state?.error ?? '';
  return stopped('ROUTE', problem === '' ? found('PORT_OPENING', { port }) : found('PORT_CLOSED', { port, problem }), fix('FREE_PORT'));
}
