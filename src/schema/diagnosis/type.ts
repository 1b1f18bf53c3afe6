import { builder } from '../builder.ts';
import { Host } from '../host/type.ts';
import { Tunnel } from '../tunnel/type.ts';
import { textOrNull } from '../values/empty.ts';
import { type Finding, findings, findingText, type Fix, fixes, fixText } from './findings.ts';
import { type VisitorPage as VisitorPageOf, visitorPageOf } from './visitor-page.ts';
import { explanationOf, type Gate, type gateNames } from './gates.ts';
import { Refusal, refusalsOf } from './refusal-type.ts';
import type { HostDiagnosis } from './host.ts';
import { mostNear } from './near-hosts.ts';
import { TargetProbeType } from './probe.ts';
import type { TunnelDiagnosis } from './tunnel.ts';
import { paramsField } from '../values/text-parameters.ts';
import { enumOf } from '../values/enum.ts';

/** Maximum number of findings of a check. */
const mostFindings = 3;

/** The protocol of a request. */
export const RequestScheme = enumOf('RequestScheme', 'The scheme of a request.', {
  http: 'HTTP.',
  https: 'HTTPS.',
});

const GateName = builder.enumType('GateName', {
  description: 'The checks that a connection must pass, in this order.',
  values: {
    NAME_AND_PORT: { description: 'The name leads to this server, and the port accepts connections. Only with `lookUp`.' },
    ROUTE: { description: 'The connection has a route: a host rule that matches, an open port, or a password.' },
    CERTIFICATE: { description: 'HTTPS visitors get a certificate that they can trust. Hosts only.' },
    ENABLED: { description: 'The host or tunnel, and its client, are enabled.' },
    OWNER: { description: 'The owner is enabled, and neither the owner nor the client has expired.' },
    QUOTA: { description: "The client's traffic and connections are within their limits." },
    ACCESS: { description: "The visitor's address is allowed." },
    AGENT: { description: 'The agent is connected.' },
    TARGET: { description: 'A target is set and, if it was probed, it accepts connections.' },
  } satisfies Record<typeof gateNames[number], object>,
});

const GateOutcome = builder.enumType('GateOutcome', {
  description: 'Whether a connection passes a check.',
  values: {
    PASSED: { description: 'It passes.' },
    STOPPED: { description: 'It does not pass.' },
    UNKNOWN: { description: 'The request does not contain enough information to decide.' },
  },
});

const FindingCode = enumOf('FindingCode', 'What a check has found. The descriptions are the English texts; their parameters are in braces.', findings);
const FixCode = enumOf('FixCode', 'How to fix what stops a connection. The descriptions are the English texts; their parameters are in braces.', fixes);

const DiagnosisFinding = builder.objectRef<Finding>('DiagnosisFinding').implement({
  description: 'Something that a check has found, as a code, for frontends that translate it.',
  fields: (t) => ({
    code: t.field({ type: FindingCode, description: 'The code.', resolve: ({ code }) => code }),
    params: t.field(paramsField),
    text: t.string({ description: 'The text in English.', resolve: findingText }),
  }),
});

const DiagnosisFix = builder.objectRef<Fix>('DiagnosisFix').implement({
  description: 'How to fix what stops a connection, as a code, for frontends that translate it.',
  fields: (t) => ({
    code: t.field({ type: FixCode, description: 'The code.', resolve: ({ code }) => code }),
    params: t.field(paramsField),
    text: t.string({ description: 'The text in English.', resolve: fixText }),
  }),
});

const VisitorPage = builder.objectRef<VisitorPageOf>('VisitorPage').implement({
  description: 'The page that visitors see instead of the site.',
  fields: (t) => ({
    status: t.exposeInt('status', { description: 'The HTTP status.' }),
    title: t.exposeString('title', { description: 'Its headline, in English.' }),
    text: t.exposeString('text', { description: 'Its text, in English.' }),
  }),
});

const DiagnosisGate = builder.objectRef<Gate>('DiagnosisGate').implement({
  description: 'One of the checks that a connection must pass.',
  fields: (t) => ({
    name: t.field({ type: GateName, description: 'The check.', resolve: (gate) => gate.name }),
    outcome: t.field({ type: GateOutcome, description: 'The result of the check.', resolve: (gate) => gate.outcome }),
    findings: t.field({
      type: [DiagnosisFinding],
      extensions: { items: mostFindings },
      description: 'What was found, at least one. The first determines the outcome.',
      resolve: (gate) => [...gate.findings],
    }),
    fix: t.field({ type: DiagnosisFix, nullable: true, description: 'How to fix it; null = nothing to fix.', resolve: (gate) => gate.fix }),
    refusals: t.field({
      type: [Refusal],
      description: 'The connections that were refused by this check since the server started, by cause.',
      resolve: ({ refusals }) => refusalsOf(refusals),
    }),
    visitorPage: t.field({
      type: VisitorPage,
      nullable: true,
      description:
        "What visitors of a host see if this check stops them; null = it doesn't, or they see no page: their connection is closed, or the browser warns of the certificate.",
      resolve: visitorPageOf,
    }),
    explanation: t.string({ description: 'Everything that was found, in English.', resolve: explanationOf }),
    remedy: t.string({ nullable: true, description: 'How to fix it, in English; null = nothing to fix.', resolve: (gate) => gate.fix && fixText(gate.fix) }),
  }),
});

const firstStop = (gates: readonly Gate[]) => gates.find(({ outcome }) => outcome === 'STOPPED') ?? null;

/** @see HostDiagnosis */
export const HostDiagnosisType = builder.objectRef<HostDiagnosis>('HostDiagnosis').implement({
  description: 'Where a request would be routed, and the result of each check on the way.',
  fields: (t) => ({
    host: t.string({ description: 'The host name that was looked up, without port.', resolve: ({ question }) => question.host }),
    path: t.string({ description: 'The path that was looked up.', resolve: ({ question }) => question.path }),
    scheme: t.field({ type: RequestScheme, description: 'The scheme that was looked up.', resolve: ({ question }) => question.scheme }),
    matched: t.boolean({ description: 'Whether a host rule matches the request.', resolve: ({ rule }) => rule !== null }),
    reason: t.string({
      nullable: true,
      description: 'Why no rule matches, or what is missing in the rule; null = nothing.',
      resolve: (row) => textOrNull(row.reason),
    }),
    rule: t.field({ type: Host, nullable: true, description: 'The rule that matches; null = none that the caller may see.', resolve: ({ rule }) => rule }),
    near: t.field({
      type: [Host],
      extensions: { items: mostNear },
      description: `If no host has this name: at most ${mostNear} hosts that the caller may see with a similar one, the most similar first.`,
      resolve: ({ near }) => near(),
    }),
    target: t.string({ nullable: true, description: 'The target of the next connection; null = none.', resolve: (row) => textOrNull(row.target) }),
    gates: t.field({ type: [DiagnosisGate], description: 'All checks, in order.', resolve: ({ gates }) => gates() }),
    stoppedBy: t.field({
      type: DiagnosisGate,
      nullable: true,
      description: 'The first check that does not pass; null = all pass.',
      resolve: async ({ gates }) => firstStop(await gates()),
    }),
    probes: t.field({
      type: [TargetProbeType],
      description: 'The results of dialing the targets; empty unless `probe` is set and the agent is connected.',
      resolve: ({ probes }) => [...probes],
    }),
  }),
});

/** @see TunnelDiagnosis */
export const TunnelDiagnosisType = builder.objectRef<TunnelDiagnosis>('TunnelDiagnosis').implement({
  description: 'The result of each check of a connection to a tunnel.',
  fields: (t) => ({
    tunnel: t.field({ type: Tunnel, description: 'The tunnel.', resolve: ({ tunnel }) => tunnel }),
    gates: t.field({ type: [DiagnosisGate], description: 'All checks, in order.', resolve: ({ gates }) => [...gates] }),
    stoppedBy: t.field({
      type: DiagnosisGate,
      nullable: true,
      description: 'The first check that does not pass; null = all pass.',
      resolve: ({ gates }) => firstStop(gates),
    }),
    probes: t.field({
      type: [TargetProbeType],
      description: 'The results of dialing the targets; empty unless `probe` is set and the agent is connected.',
      resolve: ({ probes }) => [...probes],
    }),
  }),
});
