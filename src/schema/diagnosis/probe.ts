import type { HealthState } from '../../engine/face.ts';
import { dialTargets } from '../../rules/targets.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { found, fix } from './findings.ts';
import { type Gate, passed, stopped } from './gates.ts';
import { textOrNull } from '../values/empty.ts';

/** Timeout for the agent's dial of a target, in ms. */
const PROBE_MS = 5000;
/** Maximum number of targets that are dialed, in parallel. */
export const PROBE_TARGETS = 16;

/** The result of dialing a target. */
export interface TargetProbe {
  readonly target: string;
  readonly reached: boolean;
  readonly milliseconds: number;
  /** The error; "" = the target accepted the connection. */
  readonly error: string;
}

/** The result of dialing a target. */
export const TargetProbeType = builder.objectRef<TargetProbe>('TargetProbe').implement({
  description: 'The result of dialing a target through the agent.',
  fields: (t) => ({
    target: t.exposeString('target', { description: 'host:port' }),
    reached: t.exposeBoolean('reached', { description: 'Whether the target accepted the connection. The connection is closed at once.' }),
    milliseconds: t.exposeInt('milliseconds', { description: 'How long it took, including the round trip to the agent.' }),
    error: t.string({ nullable: true, description: 'Why the target was not reached; null = it was.', resolve: (row) => textOrNull(row.error) }),
  }),
});

/** Dials the stored targets through the client's agent, in parallel, and closes the connections. A diagnosis makes no other connections. */
export function probeTargets({ engine }: Context, clientId: number, storedTargets: string): Promise<TargetProbe[]> {
  return Promise.all(
    dialTargets(storedTargets).slice(0, PROBE_TARGETS).map(async (target) => {
      const start = performance.now();
      const error = await engine.probe(clientId, target, PROBE_MS);
      return { target, reached: error === '', milliseconds: Math.round(performance.now() - start), error };
    }),
  );
}

/**
 * Whether there are targets, whether any is healthy, and, if they were dialed, whether any accepted the connection.
 * @param health as reported by the agent, if it checks them
 */
export function targetGate(thing: 'host' | 'tunnel', storedTargets: string, health: HealthState | null | undefined, probes: readonly TargetProbe[]): Gate {
  const all = dialTargets(storedTargets);
  if (all.length === 0) {
    return thing === 'host'
      ? stopped('TARGET', found('HOST_TARGET_MISSING'), fix('SET_HOST_TARGET'))
      : stopped('TARGET', found('TUNNEL_TARGET_MISSING'), fix('SET_TUNNEL_TARGET'));
  }
  const out = new Map(health?.targets.filter(({ healthy }) => !healthy).map(({ target, lastError }) => [target, lastError]));
  const targets = all.filter((target) => !out.has(target));
  const [[failed = '', error = ''] = []] = out;
  if (targets.length === 0) return stopped('TARGET', found('TARGETS_UNHEALTHY', { target: failed, problem: error }), fix('START_CHECKED_SERVICE'));
  const answering = probes.find(({ reached }) => reached);
  if (answering !== undefined) return passed('TARGET', found('TARGET_ANSWERED', { target: answering.target }));
  const [first] = probes;
  if (first !== undefined) return stopped('TARGET', found('TARGETS_SILENT', { problem: first.error }), fix('START_SERVICE'));
  const names = targets.join(', ');
  return passed(
    'TARGET',
    out.size === 0 ? found('TARGETS_UNTRIED', { targets: names }) : found('HEALTHY_TARGETS_UNTRIED', { targets: names, unhealthy: [...out.keys()].join(', ') }),
  );
}
