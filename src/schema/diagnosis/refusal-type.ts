import { type RefusalCause, refusalCauses, type Refusals } from '../../engine/face.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../values/enum.ts';

interface CountedRefusal {
  readonly cause: RefusalCause;
  readonly count: number;
}

const RefusalCauseType = enumOf<RefusalCause>('RefusalCause', "Why a visitor's connection was refused.", {
  offline: 'The agent was not connected.',
  disabled: 'The client or its owner was disabled.',
  expired: 'The client or its owner had expired.',
  globalBlackList: 'The address is on the global blocklist.',
  whiteList: "The address is not on the client's allowlist.",
  blackList: "The address is on the client's blocklist.",
  connections: 'The client had reached its connection limit.',
  flow: 'The client had reached its traffic limit.',
  capacity: 'The server had reached its connection limit.',
  agentCapacity: 'The agent had reached its connection limit, or was shutting down.',
  login: "The visitor did not send the user name and password that the client's proxies and hosts require.",
  malformed: 'The visitor did not speak the expected protocol.',
  localProxy: 'The target would have been dialed by the server itself, which its settings do not allow.',
  noTarget: 'No target was set, or all of them failed their health checks.',
}, { globalBlackList: 'GLOBAL_BLOCKLIST', whiteList: 'ALLOWLIST', blackList: 'BLOCKLIST' });

/** The number of connections that were refused for one cause. */
export const Refusal = builder.objectRef<CountedRefusal>('Refusal').implement({
  description: "Visitors' connections that were refused for one cause.",
  fields: (t) => ({
    cause: t.field({ type: RefusalCauseType, description: 'The cause.', resolve: ({ cause }) => cause }),
    count: t.int({ description: 'The number of refusals, at most 2147483647.', resolve: ({ count }) => Math.min(count, 0x7fff_ffff) }),
  }),
});

/** Refusals in the form of the API: only causes that occurred. */
export function refusalsOf(refusals: Refusals): CountedRefusal[] {
  return refusalCauses.flatMap((cause) => refusals[cause] === undefined ? [] : [{ cause, count: refusals[cause] }]);
}
