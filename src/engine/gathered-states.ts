import { setImmediate } from 'node:timers/promises';
import type { HealthState } from './face.ts';

/** Targets whose health is looked at before the event loop goes on. */
const together = 5000;

/** The states of tunnels or hosts, each of which may have thousands of checked targets. */
export async function gatheredStates<State extends { readonly health: HealthState | null }>(
  ids: readonly number[],
  stateOf: (id: number) => State | undefined,
): Promise<Array<State | undefined>> {
  const states: Array<State | undefined> = [];
  let looked = 0;
  for (const id of ids) {
    const state = stateOf(id);
    states.push(state);
    looked += state?.health?.targets.length ?? 0;
    if (looked < together) continue;
    looked = 0;
    await setImmediate();
  }
  return states;
}
