import type { TunnelState } from '../../engine/face.ts';
import { mayUseClient } from '../../rules/ownership.ts';
import { proxyHeaderModes, transportOf } from '../../rules/tunnel-mode.ts';
import type { Tunnel } from '../../store/generated/sqlite/client.ts';
import type { Context } from '../context.ts';
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
function ownTargetGate({ mode, localPath }: Tunnel): Gate {
  if (mode !== 'file') return passed('TARGET', `a ${mode} tunnel has no target of its own`);
  return localPath === ''
    ? stopped('TARGET', 'the tunnel has no directory to serve', "give it the path of one on the agent's machine")
    : passed('TARGET', `it serves ${localPath} of the agent's machine, if its operator allows that; this was not checked`);
}

/** A stored setting that has no effect in this mode; "" = none. */
function unused({ mode, proxyProtocol }: Tunnel): string {
  return proxyProtocol === '' || proxyHeaderModes.includes(mode)
    ? ''
    : `; a ${mode} tunnel sends no PROXY protocol header, only ${proxyHeaderModes.join(' and ')} tunnels do`;
}

function entryGate({ engine }: Context, tunnel: Tunnel, state: TunnelState | undefined, shouldRun: boolean): Gate {
  const { mode, port, password } = tunnel;
  if (!engine.modes.includes(mode)) return stopped('ROUTE', `this server does not serve ${mode} tunnels`, 'choose another mode');
  if (transportOf(mode) === undefined) {
    return password === ''
      ? stopped('ROUTE', 'the tunnel has no password, so visitors cannot connect', 'give it a password')
      : passed('ROUTE', `visitors connect with the password${unused(tunnel)}`);
  }
  if (!shouldRun || state?.running === true) return passed('ROUTE', `visitors connect to port ${port}${unused(tunnel)}`);
  return stopped('ROUTE', `port ${port} is not open: ${state?.error || 'it is about to be opened'}`, 'free the port, or give the tunnel another one');
}
