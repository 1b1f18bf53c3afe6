import type { ProblemCode, ProblemFix } from '../../generated/graphql.ts';
import { counted } from './common.ts';

/** The parameters of a problem, by name. */
export interface ProblemParams {
  readonly text: (name: string) => string;
  readonly count: (name: string) => number;
  /** 920 of 1,000 GiB */
  readonly share: (used: string, limit: string) => string;
  /** 22 Nov 2026, 11:41 UTC+1 */
  readonly moment: (name: string) => string;
}

/** What is wrong, why, and how to fix it. */
export const problems: {
  readonly what: Record<ProblemCode, (name: string) => string>;
  readonly why: Record<ProblemCode, (params: ProblemParams) => string>;
  readonly fixes: Record<ProblemFix, string>;
  readonly showAll: (count: number) => string;
  readonly since: (moment: string, duration: string) => string;
} = {
  what: {
    AGENT_AWAY: (name) => `The agent of ${name} is away`,
    CLIENT_EXPIRED: (name) => `${name} has expired`,
    TUNNEL_CLOSED: (name) => `${name} does not serve`,
    TRAFFIC_USED_UP: (name) => `${name} has used up its traffic`,
    TARGETS_UNHEALTHY: (name) => `No target of ${name} is healthy`,
    CERTIFICATE_MISSING: (name) => `${name} has no usable certificate`,
    CERTIFICATE_EXPIRED: (name) => `The certificate of ${name} has expired`,
    CERTIFICATE_NOT_YET_VALID: (name) => `The certificate of ${name} is not valid yet`,
    CERTIFICATE_NOT_COVERED: (name) => `The certificate of ${name} is for another name`,
    CERTIFICATE_REFUSED: (name) => `The new certificate of ${name} is not used`,
    CERTIFICATE_EXPIRING: (name) => `The certificate of ${name} expires soon`,
    TRAFFIC_NEARLY_USED_UP: (name) => `${name} has used most of its traffic`,
    TUNNELS_USED_UP: (name) => `${name} has as many tunnels and hosts as its limit allows`,
    CLIENT_EXPIRES: (name) => `${name} expires soon`,
    USER_EXPIRES: (name) => `The user ${name} expires soon`,
    LOCKED_OUT: () => 'Somebody is locked out after wrong guesses',
  },
  why: {
    AGENT_AWAY: (p) => `${counted(p.count('parts'), 'tunnel or host does', 'tunnels and hosts do')} not respond.`,
    CLIENT_EXPIRED: (p) => `It expired ${p.moment('at')}. Its agent and its visitors are refused.`,
    TUNNEL_CLOSED: (p) => p.text('problem') === '' ? 'The agent is online, but the tunnel is not open.' : `The server reports: ${p.text('problem')}.`,
    TRAFFIC_USED_UP: (p) => `${p.share('used', 'limit')}. Its visitors are refused.`,
    TARGETS_UNHEALTHY: (p) => `Visitors are refused. ${p.text('problem')}`,
    CERTIFICATE_MISSING: (p) => `TLS connections of visitors fail. ${p.text('problem')}`,
    CERTIFICATE_EXPIRED: (p) => `It expired ${p.moment('at')}. Browsers refuse to open the page.`,
    CERTIFICATE_NOT_YET_VALID: () => 'Browsers refuse to open the page. Is the server’s clock right?',
    CERTIFICATE_NOT_COVERED: () => 'Browsers refuse to open the page.',
    CERTIFICATE_REFUSED: (p) => `The old one is still in use. ${p.text('problem')}`,
    CERTIFICATE_EXPIRING: (p) => `It expires ${p.moment('at')}.`,
    TRAFFIC_NEARLY_USED_UP: (p) => `${p.share('used', 'limit')}. When it is used up, visitors are refused.`,
    TUNNELS_USED_UP: (p) => `${p.text('used')} of ${p.text('limit')}. None can be added.`,
    CLIENT_EXPIRES: (p) => `It expires ${p.moment('at')}. Its agent and all connections are then disconnected.`,
    USER_EXPIRES: (p) => `The account expires ${p.moment('at')}. All its clients then stop.`,
    LOCKED_OUT: (p) => `${counted(p.count('count'), 'address or name has', 'addresses or names have')} to wait.`,
  },
  fixes: {
    START_AGENT: 'Show its command',
    DIAGNOSE: 'Find out why',
    CHANGE_TUNNEL: 'Edit it',
    REPLACE_CERTIFICATE: 'Replace it',
    RETRY_ACME: 'Request it again',
    RAISE_LIMIT: 'Raise the limit',
    EXTEND_CLIENT: 'Extend it',
    EXTEND_USER: 'Extend it',
    DELETE_UNUSED: 'Delete what is unused',
    FREE_LOCKOUTS: 'See the lockouts',
    ASK_ADMINISTRATOR: 'Ask an administrator.',
  },
  since: (moment, duration) => `Since ${moment} (${duration}).`,
  showAll: (count) => `Show all ${count.toLocaleString('en-GB')}`,
};
