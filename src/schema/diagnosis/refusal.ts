import { type RefusalCause, refusalCauses, type Refusals } from '../../engine/face.ts';
import { builder } from '../builder.ts';

interface CountedRefusal {
  readonly cause: RefusalCause;
  readonly count: number;
}

const RefusalCauseType = builder.enumType('RefusalCause', {
  description: 'Why a connection of a visitor was refused.',
  values: {
    OFFLINE: { value: 'offline', description: 'The agent was not connected.' },
    DISABLED: { value: 'disabled', description: 'The client or its owner was disabled.' },
    EXPIRED: { value: 'expired', description: 'The client or its owner had expired.' },
    GLOBAL_BLACK_LIST: { value: 'globalBlackList', description: 'The address is on the global blacklist.' },
    WHITE_LIST: { value: 'whiteList', description: "The address is not on the client's whitelist." },
    BLACK_LIST: { value: 'blackList', description: "The address is on the client's blacklist." },
    CONNECTIONS: { value: 'connections', description: 'The client had as many connections as it may.' },
    FLOW: { value: 'flow', description: 'The client had used the traffic that it may.' },
    CAPACITY: { value: 'capacity', description: 'The server had as many connections as it takes.' },
    AGENT_CAPACITY: { value: 'agentCapacity', description: 'The agent had as many connections as it takes, or was about to stop.' },
    LOGIN: { value: 'login', description: "The visitor did not know the user name and password that the client's proxies ask for." },
    MALFORMED: { value: 'malformed', description: 'What the visitor said was not the protocol that is spoken there.' },
    LOCAL_PROXY: { value: 'localProxy', description: 'The server was to dial the target itself, which its settings do not allow.' },
    NO_TARGET: { value: 'noTarget', description: 'There was no target.' },
  } satisfies Record<string, { readonly value: RefusalCause; readonly description: string }>,
});

/** Connections that were refused for one cause. */
export const Refusal = builder.objectRef<CountedRefusal>('Refusal').implement({
  description: 'Connections of visitors that were refused for one cause.',
  fields: (t) => ({
    cause: t.field({ type: RefusalCauseType, description: 'Why.', resolve: ({ cause }) => cause }),
    count: t.int({ description: 'How many; no more than 2147483647.', resolve: ({ count }) => Math.min(count, 0x7fff_ffff) }),
  }),
});

/** As the API shows them: the causes that there were. */
export function refusalsOf(refusals: Refusals): CountedRefusal[] {
  return refusalCauses.flatMap((cause) => refusals[cause] === undefined ? [] : [{ cause, count: refusals[cause] }]);
}
