import { builder } from '../builder.ts';
import { Host } from '../host/type.ts';
import { Tunnel } from '../tunnel/type.ts';
import { textOrNull } from '../values/empty.ts';
import type { Gate, gateNames } from './gates.ts';
import type { HostDiagnosis } from './host.ts';
import { TargetProbeType } from './probe.ts';
import type { TunnelDiagnosis } from './tunnel.ts';
import { enumOf } from '../values/enum.ts';

/** The protocol of a request. */
export const RequestScheme = enumOf('RequestScheme', 'The protocol of a request.', {
  http: 'HTTP.',
  https: 'HTTPS.',
});

const GateName = builder.enumType('GateName', {
  description: 'The gates that a connection goes through, in this order.',
  values: {
    ROUTE: { description: 'There is a way in: a host rule that matches, an open port, a password.' },
    CERTIFICATE: { description: 'Visitors over HTTPS are shown a certificate that they believe. Hosts only.' },
    ENABLED: { description: 'Host or tunnel, and the client, are switched on.' },
    OWNER: { description: 'The owner is enabled, and neither the owner nor the client has expired.' },
    QUOTA: { description: "The client's traffic and connections are within their limits." },
    ACCESS: { description: "The visitor's address is allowed." },
    AGENT: { description: 'The agent is connected.' },
    TARGET: { description: 'There is a target; when it was probed: it answers.' },
  } satisfies Record<typeof gateNames[number], object>,
});

const GateOutcome = builder.enumType('GateOutcome', {
  description: 'Whether a connection gets past a gate.',
  values: {
    PASSED: { description: 'It does.' },
    STOPPED: { description: "It doesn't." },
    UNKNOWN: { description: "The question does not contain enough to decide." },
  },
});

const DiagnosisGate = builder.objectRef<Gate>('DiagnosisGate').implement({
  description: 'One step on the way of a connection.',
  fields: (t) => ({
    name: t.field({ type: GateName, description: 'Which one.', resolve: (gate) => gate.name }),
    outcome: t.field({ type: GateOutcome, description: 'Whether the connection gets past it.', resolve: (gate) => gate.outcome }),
    explanation: t.exposeString('explanation', { description: 'What was found, for people.' }),
    remedy: t.string({ nullable: true, description: 'How to fix it; null = nothing has to be done.', resolve: (row) => textOrNull(row.remedy) }),
  }),
});

const firstStop = (gates: readonly Gate[]) => gates.find(({ outcome }) => outcome === 'STOPPED') ?? null;

/** @see HostDiagnosis */
export const HostDiagnosisType = builder.objectRef<HostDiagnosis>('HostDiagnosis').implement({
  description: 'Where a request goes, by the same rule that routes requests, and what becomes of it on the way.',
  fields: (t) => ({
    host: t.string({ description: 'The host that was looked up, without port.', resolve: ({ question }) => question.host }),
    path: t.string({ description: 'The path that was looked up.', resolve: ({ question }) => question.path }),
    scheme: t.field({ type: RequestScheme, description: 'The protocol that was looked up.', resolve: ({ question }) => question.scheme }),
    matched: t.boolean({ description: 'A rule takes the request.', resolve: ({ rule }) => rule !== null }),
    reason: t.string({ nullable: true, description: 'Why no rule takes it, or what the rule lacks; null = nothing.', resolve: (row) => textOrNull(row.reason) }),
    rule: t.field({ type: Host, nullable: true, description: 'The rule that takes it; null = none that you may see.', resolve: ({ rule }) => rule }),
    target: t.string({ nullable: true, description: 'Where the next connection would go; null = nowhere.', resolve: (row) => textOrNull(row.target) }),
    gates: t.field({ type: [DiagnosisGate], description: 'Every gate, in order.', resolve: ({ gates }) => gates() }),
    stoppedBy: t.field({ type: DiagnosisGate, nullable: true, description: 'The first gate that stops it; null = none does.', resolve: async ({ gates }) => firstStop(await gates()) }),
    probes: t.field({ type: [TargetProbeType], description: 'The results of dialing the targets; empty unless `probe` is set and the agent is connected.', resolve: ({ probes }) => [...probes] }),
  }),
});

/** @see TunnelDiagnosis */
export const TunnelDiagnosisType = builder.objectRef<TunnelDiagnosis>('TunnelDiagnosis').implement({
  description: 'What becomes of a connection to a tunnel.',
  fields: (t) => ({
    tunnel: t.field({ type: Tunnel, description: 'The tunnel.', resolve: ({ tunnel }) => tunnel }),
    gates: t.field({ type: [DiagnosisGate], description: 'Every gate, in order.', resolve: ({ gates }) => [...gates] }),
    stoppedBy: t.field({ type: DiagnosisGate, nullable: true, description: 'The first gate that stops it; null = none does.', resolve: ({ gates }) => firstStop(gates) }),
    probes: t.field({ type: [TargetProbeType], description: 'The results of dialing the targets; empty unless `probe` is set and the agent is connected.', resolve: ({ probes }) => [...probes] }),
  }),
});
