import { dialTargets } from '../../rules/targets.ts';
import type { Host as HostRow } from '../../store/generated/sqlite/client.ts';
import type { Context } from '../context.ts';
import { hostCertificate, type HostCertificate } from '../host/certificate-type.ts';
import { certificateGate, certificateReason } from './certificate-gate.ts';
import { found, type Finding, findingText, fix, type Fix } from './findings.ts';
import { accessGate, agentGate, enabledGate, type Gate, gateNames, ownerGate, passed, quotaGate, stopped, unknown, withRefusals } from './gates.ts';
import { nameGate } from './name-gate.ts';
import { nearHosts } from './near-hosts.ts';
import { probeTargets, targetGate, type TargetProbe } from './probe.ts';
import { withPages } from './visitor-page.ts';
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
  /** The caller's hosts with a similar name, if none has this one. */
  readonly near: () => Promise<HostRow[]>;
  readonly gates: () => Promise<Gate[]>;
}

/** The arguments of a diagnosis. */
export interface HostDiagnosisArgs {
  readonly host: string;
  readonly path: string;
  readonly scheme: 'http' | 'https';
  readonly visitorAddress?: string;
  readonly probe: boolean;
  /** Looks the name up, and connects to the port if it leads to this server. */
  readonly lookUp: boolean;
}

const faults: Readonly<Record<NonNullable<Route['fault']>, { readonly finding: Finding; readonly fix: Fix }>> = {
  host: { finding: found('NO_HOST_MATCHES'), fix: fix('ADD_HOST') },
  ownName: { finding: found('OWN_NAME'), fix: fix('ASK_FOR_OWN_NAME') },
  stopped: { finding: found('RULES_STOPPED'), fix: fix('START_HOST') },
  scheme: { finding: found('SCHEME_DIFFERS'), fix: fix('CHANGE_SCHEME') },
  path: { finding: found('PATH_DIFFERS'), fix: fix('ADD_LOCATION') },
  other: { finding: found('RULE_UNUSABLE'), fix: fix('ASK_ADMINISTRATOR') },
};

/** Diagnoses a host, for /index/hostdiagnose/ and GraphQL (contract 2.5). Makes no connection unless `probe` is set. @throws {AditError} DIAGNOSIS_REQUEST_INVALID */
export async function diagnoseHost(context: Context, args: HostDiagnosisArgs): Promise<HostDiagnosis> {
  const question = routeQuestion(args.host, args.path, args.scheme);
  const { rule, fault } = await findRoute(context, question);
  const name = once(async () => args.lookUp ? [await nameGate(context, question)] : []);
  if (rule === undefined) {
    return {
      question,
      rule: null,
      reason: findingText(faults[fault].finding),
      target: '',
      probes: [],
      near: async () => fault === 'host' ? nearHosts(context, question.host) : [],
      gates: async () => withPages([...await name(), ...nowhere(fault)]),
    };
  }
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
    near: async () => [],
    reason: target === '' ? 'the rule matches, but there is no usable target' : certificate === undefined ? '' : certificateReason(certificate),
    gates: once(async () => withPages([...await name(), ...await gatesOf(context, rule, certificate, args.visitorAddress, probes)], rule.client)),
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
  const [, first, ...rest] = gateNames;
  return [stopped(first, faults[fault].finding, faults[fault].fix), ...rest.map((name) => unknown(name, found('NO_RULE')))];
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
    passed('ROUTE', found('HOST_MATCHED', { hostId: row.id, host: row.host, location: row.location, scheme: row.scheme })),
    certificateGate(certificate),
    enabledGate('host', row.enabled, client),
    ownerGate(client, new Date(context.now())),
    quotaGate(client, clientState),
    await accessGate(context, client, visitorAddress),
    agentGate(context, client, clientState, row.localProxy),
    targetGate('host', row.target, state?.health, probes),
  ], state?.refusals ?? clientState?.refusals);
}
