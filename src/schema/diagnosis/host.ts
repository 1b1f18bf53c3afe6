import { dialTargets } from '../../rules/targets.ts';
import type { Host as HostRow } from '../../store/generated/sqlite/client.ts';
import type { Context } from '../context.ts';
import { hostCertificate, type HostCertificate } from '../host/certificate-type.ts';
import { certificateGate, certificateReason } from './certificate-gate.ts';
import { accessGate, agentGate, enabledGate, type Gate, gateNames, ownerGate, passed, quotaGate, stopped, unknown, withRefusals } from './gates.ts';
import { probeTargets, targetGate, type TargetProbe } from './probe.ts';
import { findRoute, type Route, routeQuestion, type RouteQuestion, type StoredRule } from './route.ts';

/** The route of a request and the gates on its path. */
export interface HostDiagnosis {
  readonly question: RouteQuestion;
  /** The rule that matches the request; null = none, or one that the caller may not see. */
  readonly rule: HostRow | null;
  /** Why no rule matches, or the problem with the rule; "" = no problem. */
  readonly reason: string;
  /** The target of the next connection; "" = none. */
  readonly target: string;
  readonly probes: readonly TargetProbe[];
  readonly gates: () => Promise<Gate[]>;
}

/** The arguments of a diagnosis. */
export interface HostDiagnosisArgs {
  readonly host: string;
  readonly path: string;
  readonly scheme: 'http' | 'https';
  readonly visitorAddress?: string;
  readonly probe: boolean;
}

const faults: Readonly<Record<NonNullable<Route['fault']>, { readonly reason: string; readonly remedy: string }>> = {
  host: { reason: 'no host rule matches', remedy: 'add a host for this domain, or point the domain somewhere else' },
  ownName: {
    reason: "the domain is one of the server's own names",
    remedy: 'ask an administrator to make the host: only administrators give one of these names to a host',
  },
  stopped: { reason: 'all matching rules are stopped', remedy: 'start the host' },
  scheme: { reason: 'the scheme differs from that of the matching rules', remedy: 'ask with the other scheme, or give the host the scheme `all`' },
  path: { reason: 'the path does not match the location of any started rule', remedy: 'add a host with this location, or one with the location /' },
  other: { reason: 'the rule has no usable target at the moment', remedy: 'ask the administrator' },
};

/** Diagnoses a host, for /index/hostdiagnose/ and GraphQL (contract 2.5). Makes no connection unless `probe` is set. @throws {AditError} DIAGNOSIS_REQUEST_INVALID */
export async function diagnoseHost(context: Context, args: HostDiagnosisArgs): Promise<HostDiagnosis> {
  const question = routeQuestion(args.host, args.path, args.scheme);
  const { rule, fault } = await findRoute(context, question);
  if (rule === undefined) return { question, rule: null, reason: faults[fault].reason, target: '', probes: [], gates: async () => nowhere(fault) };
  const state = await context.loaders.hostStates.load(rule.row.id);
  const failing = state?.health?.targets.filter(({ healthy }) => !healthy).map(({ target }) => target) ?? [];
  const [target = ''] = dialTargets(rule.row.target).filter((each) => !failing.includes(each));
  const certificate = args.scheme === 'https' ? await hostCertificate(context, rule.row, question.host) : undefined;
  const probes = args.probe && await mayProbe(context, rule) ? await probeTargets(context, rule.client.id, rule.row.target) : [];
  return {
    question,
    rule: rule.row,
    target,
    probes,
    reason: target === '' ? 'the rule matches, but there is no usable target' : certificate === undefined ? '' : certificateReason(certificate),
    gates: once(() => gatesOf(context, rule, certificate, args.visitorAddress, probes)),
  };
}

/** Computes a value on first use. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => made ??= make();
}

/** Targets are dialed by the agent, so it must be connected. Targets that the server would dial itself are not probed. */
async function mayProbe({ loaders }: Context, { row, client }: StoredRule): Promise<boolean> {
  return !row.localProxy && (await loaders.clientStates.load(client.id))?.connected === true;
}

function nowhere(fault: NonNullable<Route['fault']>): Gate[] {
  const { reason, remedy } = faults[fault];
  const [first, ...rest] = gateNames;
  return [stopped(first, reason, remedy), ...rest.map((name) => unknown(name, 'there is no rule to look at'))];
}

async function gatesOf(
  context: Context,
  { row, client }: StoredRule,
  certificate: HostCertificate | undefined,
  visitorAddress: string | undefined,
  probes: readonly TargetProbe[],
): Promise<Gate[]> {
  const [state, clientState] = await Promise.all([context.loaders.hostStates.load(row.id), context.loaders.clientStates.load(client.id)]);
  return withRefusals([
    passed('ROUTE', `host ${row.id} takes the request: ${row.host}, location ${row.location}, scheme ${row.scheme}`),
    certificateGate(certificate),
    enabledGate('host', row.enabled, client),
    ownerGate(client, new Date(context.now())),
    quotaGate(client, clientState),
    await accessGate(context, client, visitorAddress),
    agentGate(context, client, clientState, row.localProxy),
    targetGate('host', row.target, state?.health, probes),
  ], state?.refusals ?? clientState?.refusals);
}
