import { type RefusalCause, refusalCauses, type Refusals } from '../../engine/face.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../values/enum.ts';

interface CountedRefusal {
  readonly cause: RefusalCause;
  readonly count: number;
}

const RefusalCauseType = enumOf<RefusalCause>('RefusalCause', 'Why a connection of a visitor was refused.', {
  offline: 'The agent was not connected.',
  disabled: 'The client or its owner was disabled.',
  expired: 'The client or its owner had expired.',
  globalBlackList: 'The address is on the global blacklist.',
  whiteList: "The address is not on the client's whitelist.",
  blackList: "The address is on the client's blacklist.",
  connections: 'The client had as many connections as it may.',
  flow: 'The client had used the traffic that it may.',
  capacity: 'The server had as many connections as it takes.',
  agentCapacity: 'The agent had as many connections as it takes, or was about to stop.',
  login: "The visitor did not know the user name and password that the client's proxies ask for.",
  malformed: 'What the visitor said was not the protocol that is spoken there.',
  localProxy: 'The server was to dial the target itself, which its settings do not allow.',
  noTarget: 'There was no target.',
});

/** The number of connections that were refused for one cause. */
export const Refusal = builder.objectRef<CountedRefusal>('Refusal').implement({
  description: 'Connections of visitors that were refused for one cause.',
  fields: (t) => ({
    cause: t.field({ type: RefusalCauseType, description: 'Why.', resolve: ({ cause }) => cause }),
    count: t.int({ description: 'How many; no more than 2147483647.', resolve: ({ count }) => Math.min(count, 0x7fff_ffff) }),
  }),
});

/** Refusals in the form of the API: only causes that occurred. */
export function refusalsOf(refusals: Refusals): CountedRefusal[] {
  return refusalCauses.flatMap((cause) => refusals[cause] === undefined ? [] : [{ cause, count: refusals[cause] }]);
}
