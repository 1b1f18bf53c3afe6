import { builder } from '../builder.ts';
import { Host } from '../host/type.ts';
import { Tunnel } from '../tunnel/type.ts';
import type { Gate, gateNames } from './gates.ts';
import { diagnoseHost, type HostDiagnosis } from './host.ts';
import { TargetProbeType } from './probe.ts';
import { diagnoseTunnel, type TunnelDiagnosis } from './tunnel.ts';
import { idOf } from '../ids.ts';
import { textOrNull } from '../empty.ts';

const RequestScheme = builder.enumType('RequestScheme', {
  description: 'The protocol of a request.',
  values: { HTTP: { value: 'http', description: 'HTTP.' }, HTTPS: { value: 'https', description: 'HTTPS.' } } as const,
});

const GateName = builder.enumType('GateName', {
  description: 'The gates that a connection goes through, in this order.',
  values: {
    ROUTE: { description: 'There is a way in: a host rule that matches, an open port, a password.' },
    CERTIFICATE: { description: 'Visitors over HTTPS are shown a certificate that they believe. Hosts only.' },
    ENABLED: { description: 'Host or tunnel, and the client, are switched on.' },
    OWNER: { description: 'The owner is enabled, and neither the owner nor the client has expired.' },
    QUOTA: { description: "The client's traffic and connections are within their limits." },
    ACCESS: { description: "The visitor's address is let in." },
    AGENT: { description: 'The agent is connected.' },
    TARGET: { description: 'There is a target; when it was probed: it answers.' },
  } satisfies Record<typeof gateNames[number], object>,
});

const GateOutcome = builder.enumType('GateOutcome', {
  description: 'Whether a connection gets past a gate.',
  values: {
    PASSED: { description: 'It does.' },
    STOPPED: { description: "It doesn't." },
    UNKNOWN: { description: "That can't be told from what was asked." },
  },
});

const DiagnosisGate = builder.objectRef<Gate>('DiagnosisGate').implement({
  description: 'One step on the way of a connection.',
  fields: (t) => ({
    name: t.field({ type: GateName, description: 'Which one.', resolve: (gate) => gate.name }),
    outcome: t.field({ type: GateOutcome, description: 'Whether the connection gets past it.', resolve: (gate) => gate.outcome }),
    explanation: t.exposeString('explanation', { description: 'What was found, for people.' }),
    remedy: t.string({ nullable: true, description: 'What would mend it; null = nothing has to be done.', resolve: (row) => textOrNull(row.remedy) }),
  }),
});

const firstStop = (gates: readonly Gate[]) => gates.find(({ outcome }) => outcome === 'STOPPED') ?? null;

const HostDiagnosisType = builder.objectRef<HostDiagnosis>('HostDiagnosis').implement({
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
    probes: t.field({ type: [TargetProbeType], description: 'What came of dialling the targets; empty unless `probe` was asked for and the agent is connected.', resolve: ({ probes }) => [...probes] }),
  }),
});

const TunnelDiagnosisType = builder.objectRef<TunnelDiagnosis>('TunnelDiagnosis').implement({
  description: 'What becomes of a connection to a tunnel.',
  fields: (t) => ({
    tunnel: t.field({ type: Tunnel, description: 'The tunnel.', resolve: ({ tunnel }) => tunnel }),
    gates: t.field({ type: [DiagnosisGate], description: 'Every gate, in order.', resolve: ({ gates }) => [...gates] }),
    stoppedBy: t.field({ type: DiagnosisGate, nullable: true, description: 'The first gate that stops it; null = none does.', resolve: ({ gates }) => firstStop(gates) }),
    probes: t.field({ type: [TargetProbeType], description: 'What came of dialling the targets; empty unless `probe` was asked for and the agent is connected.', resolve: ({ probes }) => [...probes] }),
  }),
});

const visitorAddress = 'The address of a visitor, to be held against the access lists.';
const probe = 'Dial the targets through the agent, at most 5 seconds each; without it no connection is made.';

builder.queryFields((t) => ({
  diagnoseHost: t.field({
    type: HostDiagnosisType,
    authScopes: { clientLogin: true },
    description: 'Says where a request to a domain goes and, gate by gate, what becomes of it.',
    args: {
      host: t.arg.string({ required: true, description: 'The Host header as received; a port is left out.' }),
      path: t.arg.string({ defaultValue: '/', description: 'The path, with or without a query.' }),
      scheme: t.arg({ type: RequestScheme, required: true, description: 'The protocol.' }),
      visitorAddress: t.arg.string({ description: visitorAddress }),
      probe: t.arg.boolean({ defaultValue: false, description: probe }),
    },
    resolve: (_root, args, context) => diagnoseHost(context, {
      host: args.host, path: args.path ?? '/', scheme: args.scheme, visitorAddress: args.visitorAddress ?? undefined, probe: args.probe ?? false,
    }),
  }),
  diagnoseTunnel: t.field({
    type: TunnelDiagnosisType,
    authScopes: { clientLogin: true },
    nullable: true,
    description: 'Says, gate by gate, what becomes of a connection to a tunnel; null when there is none with this id.',
    args: {
      id: t.arg.id({ required: true, description: "The tunnel's id." }),
      visitorAddress: t.arg.string({ description: visitorAddress }),
      probe: t.arg.boolean({ defaultValue: false, description: probe }),
    },
    resolve: (_root, args, context) => diagnoseTunnel(context, idOf('id', args.id), args.visitorAddress ?? undefined, args.probe ?? false),
  }),
}));
