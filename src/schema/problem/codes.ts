import type { CertificateStatus } from '../../rules/certificate.ts';
import type { Coded, GivenParams } from '../values/coded-text.ts';

/** What can be wrong, with the English text. Its parameters are in braces; times are in ISO 8601, bytes are numbers. */
export const problemTexts = {
  AGENT_AWAY: 'the agent is not connected; tunnels and hosts that do not respond: {parts}',
  CLIENT_EXPIRED: 'the client expired at {at}',
  TUNNEL_CLOSED: 'the tunnel is started, but does not listen: {problem}',
  TRAFFIC_USED_UP: 'the client has used up its traffic: {used} of {limit} bytes',
  TARGETS_UNHEALTHY: 'no target passes its health checks: {problem}',
  CERTIFICATE_MISSING: 'there is no usable certificate: {problem}',
  CERTIFICATE_EXPIRED: 'the certificate expired at {at}',
  CERTIFICATE_NOT_YET_VALID: 'the certificate is not valid yet',
  CERTIFICATE_NOT_COVERED: 'the certificate does not cover the name',
  CERTIFICATE_REFUSED: 'the new certificate is not used: {problem}',
  CERTIFICATE_EXPIRING: 'the certificate expires at {at}',
  TRAFFIC_NEARLY_USED_UP: 'the client has used {used} of {limit} bytes of its traffic',
  TUNNELS_USED_UP: 'the client has {used} of {limit} tunnels and hosts: none can be added',
  CLIENT_EXPIRES: 'the client expires at {at}',
  USER_EXPIRES: 'the user and their clients expire at {at}',
  LOCKED_OUT: 'addresses or names that are locked out after wrong guesses: {count}',
} as const;

/** The code of a problem. */
export type ProblemCode = keyof typeof problemTexts;

/** The problems because of which visitors are refused now. */
const broken: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'AGENT_AWAY',
  'CLIENT_EXPIRED',
  'TUNNEL_CLOSED',
  'TRAFFIC_USED_UP',
  'TARGETS_UNHEALTHY',
  'CERTIFICATE_MISSING',
  'CERTIFICATE_EXPIRED',
  'CERTIFICATE_NOT_YET_VALID',
  'CERTIFICATE_NOT_COVERED',
]);

/** Whether visitors are refused now. */
export function isBroken(code: ProblemCode): boolean {
  return broken.has(code);
}

/** The problem of each status of a certificate. */
export const certificateProblems: Readonly<Record<Exclude<CertificateStatus, 'valid'>, ProblemCode>> = {
  missing: 'CERTIFICATE_MISSING',
  expired: 'CERTIFICATE_EXPIRED',
  notYetValid: 'CERTIFICATE_NOT_YET_VALID',
  notCovered: 'CERTIFICATE_NOT_COVERED',
  refused: 'CERTIFICATE_REFUSED',
  expiring: 'CERTIFICATE_EXPIRING',
};

/** The record that has a problem; `server` = the server itself. */
export interface Troubled {
  readonly kind: 'client' | 'tunnel' | 'host' | 'user' | 'server';
  readonly id: number;
}

/** Something that is wrong. */
export type Problem = Coded<ProblemCode> & {
  readonly of: Troubled;
  /** null = unknown */
  readonly since: Date | null;
  /** Its certificate is ordered by ACME. */
  readonly isAcme?: boolean;
};

/** Makes a problem; the compiler checks its parameters against the text. */
export function problem<Code extends ProblemCode>(
  of: Troubled,
  since: Date | null,
  code: Code,
  ...[params]: GivenParams<typeof problemTexts[Code]>
): Problem {
  return { of, since, code, params: params ?? {} };
}

/** How to fix a problem. */
export type ProblemFix =
  | 'startAgent'
  | 'diagnose'
  | 'changeTunnel'
  | 'replaceCertificate'
  | 'retryAcme'
  | 'raiseLimit'
  | 'extendClient'
  | 'extendUser'
  | 'deleteUnused'
  | 'freeLockouts'
  | 'askAdministrator';

/** What only administrators can do. */
const administratorsOnly: ReadonlySet<ProblemFix> = new Set<ProblemFix>(['raiseLimit', 'extendClient', 'extendUser', 'freeLockouts']);

const certificateFixes = ['replaceCertificate', 'diagnose'] as const;
const fixes: Readonly<Record<ProblemCode, readonly ProblemFix[]>> = {
  AGENT_AWAY: ['startAgent'],
  CLIENT_EXPIRED: ['extendClient'],
  TUNNEL_CLOSED: ['diagnose', 'changeTunnel'],
  TRAFFIC_USED_UP: ['raiseLimit'],
  TARGETS_UNHEALTHY: ['diagnose'],
  CERTIFICATE_MISSING: certificateFixes,
  CERTIFICATE_EXPIRED: certificateFixes,
  CERTIFICATE_NOT_YET_VALID: certificateFixes,
  CERTIFICATE_NOT_COVERED: certificateFixes,
  CERTIFICATE_REFUSED: certificateFixes,
  CERTIFICATE_EXPIRING: certificateFixes,
  TRAFFIC_NEARLY_USED_UP: ['raiseLimit'],
  TUNNELS_USED_UP: ['raiseLimit', 'deleteUnused'],
  CLIENT_EXPIRES: ['extendClient'],
  USER_EXPIRES: ['extendUser'],
  LOCKED_OUT: ['freeLockouts'],
};

/** How to fix a problem, the best first. @param isAdministrator others get `askAdministrator` for what only administrators can do */
export function fixesOf({ code, isAcme = false }: Problem, isAdministrator: boolean): ProblemFix[] {
  const ways = fixes[code].map((fix) => isAdministrator || !administratorsOnly.has(fix) ? fix : 'askAdministrator');
  return [...new Set(isAcme ? ['retryAcme' as const, ...ways] : ways)];
}
