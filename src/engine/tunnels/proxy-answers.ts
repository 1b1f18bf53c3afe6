import type { DialResult } from '../../wire/dial-result.ts';

/** Why a proxy refuses a visitor's request. */
export type ProxyProblem = Exclude<DialResult, 'connected'> | 'not-served';

/** The HTTP proxy's answer to each problem, and the SOCKS5 reply code (RFC 1928, 6). */
export const proxyProblems: Readonly<Record<ProxyProblem, { readonly status: number; readonly text: string; readonly socks: number }>> = {
  refused: { status: 502, text: 'The target refused the connection.', socks: 5 },
  'host-unreachable': { status: 502, text: 'The target cannot be reached.', socks: 4 },
  'network-unreachable': { status: 502, text: "The target's network cannot be reached.", socks: 3 },
  timeout: { status: 504, text: 'The target did not answer in time.', socks: 6 },
  'unknown-name': { status: 502, text: 'The name of the target is not known.', socks: 4 },
  forbidden: { status: 502, text: 'The connection to the target is not allowed.', socks: 2 },
  failed: { status: 502, text: 'The target cannot be connected with.', socks: 1 },
  exhausted: { status: 503, text: 'The proxy takes no connections at the moment.', socks: 1 },
  crowded: { status: 503, text: 'The proxy takes no connections at the moment.', socks: 1 },
  offline: { status: 503, text: 'The proxy takes no connections at the moment.', socks: 1 },
  'not-served': { status: 503, text: 'The proxy takes no connections at the moment.', socks: 1 },
};
