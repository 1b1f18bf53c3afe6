import type { HealthState } from '../../engine/face.ts';
import { dialTargets } from '../../rules/targets.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { type Gate, passed, stopped } from './gates.ts';
import { textOrNull } from '../values/empty.ts';

/** Timeout for the agent's dial of a target, in ms. */
const PROBE_MS = 5000;
/** Maximum number of targets that a diagnosis dials, in parallel. */
const PROBE_TARGETS = 16;

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
export function targetGate(thing: string, storedTargets: string, health: HealthState | null | undefined, probes: readonly TargetProbe[]): Gate {
  const all = dialTargets(storedTargets);
  if (all.length === 0) return stopped('TARGET', `the ${thing} has no target`, `give the ${thing} a target`);
  const out = new Map(health?.targets.filter(({ healthy }) => !healthy).map(({ target, lastError }) => [target, lastError]));
  const targets = all.filter((target) => !out.has(target));
  const [[failed, error] = []] = out;
  if (targets.length === 0) {
    return stopped(
      'TARGET',
      `no target passes its health checks: ${failed}: ${error}`,
      'start the service behind the target, or correct the target or its checks',
    );
  }
  const answering = probes.find(({ reached }) => reached);
  if (answering !== undefined) return passed('TARGET', `${answering.target} answers`);
  const [first] = probes;
  if (first === undefined) {
    return passed(
      'TARGET',
      `connections go to ${targets.join(', ')}${
        out.size > 0 ? `, not to ${[...out.keys()].join(', ')}, which fail their health checks` : ''
      }; no connection was tried`,
    );
  }
  return stopped('TARGET', `no target responds: ${first.error}`, 'start the service behind the target, or correct the target');
}
