import type { AgentSessionState, SessionEnd } from '../../engine/face.ts';
import { builder } from '../builder.ts';
import { textOrNull } from '../values/empty.ts';
import { enumOf } from '../values/enum.ts';

/** Why a session of an agent ended. */
export const AgentEndReason = enumOf<SessionEnd>('AgentEndReason', "Why an agent's session ended.", {
  agentStopped: 'The agent was stopped.',
  lost: 'The connection was lost: it was closed, reset, or silent for too long.',
  protocol: 'The agent violated the protocol.',
  moved: 'The agent connected to another server of the installation.',
  replaced: 'Another agent connected with the same key.',
  disabled: 'The client or its owner was disabled.',
  expired: 'The client or its owner expired.',
  keyChanged: 'The key of the client was changed.',
  transportChanged: '`encrypt` of the client was changed: the agent connects again.',
  configRefused: 'The client may no longer use a configuration file.',
  tooMuchDeclared: 'The agent declared too many tunnels and hosts at once.',
  serverStopped: 'The server was stopped.',
});

/** A session of a client's agent. */
export const AgentSession = builder.objectRef<AgentSessionState>('AgentSession').implement({
  description: "A session of a client's agent.",
  fields: (t) => ({
    connectedAt: t.field({ type: 'DateTime', description: 'When the agent connected.', resolve: ({ since }) => new Date(since) }),
    endedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the session ended; null = it has not.',
      resolve: ({ until }) => until === null ? null : new Date(until),
    }),
    endReason: t.field({ type: AgentEndReason, nullable: true, description: 'Why it ended; null = it has not.', resolve: ({ end }) => end }),
    endText: t.string({
      nullable: true,
      description: 'Details of `endReason`, for people; null = it has not ended.',
      resolve: ({ endText }) => textOrNull(endText),
    }),
    address: t.exposeString('address', { description: 'The address that the agent connected from, without port.' }),
    version: t.exposeString('version', { description: 'The version that the agent reported.' }),
    secure: t.exposeBoolean('secure', { description: 'Whether it ran over TLS.' }),
  }),
});
