import { type Refusal, refusals } from '../../rules/visitor-refusals.ts';
import type { Client } from '../../store/generated/sqlite/client.ts';
import type { findings } from './findings.ts';
import type { Gate } from './gates.ts';

/** The page that visitors see instead of the site. */
export type VisitorPage = (typeof refusals)[Refusal];

/** The page for each finding that stops a request to a host. Absent = visitors see no page. */
const pages: Readonly<Partial<Record<keyof typeof findings, Refusal>>> = {
  NO_HOST_MATCHES: 'noRoute',
  OWN_NAME: 'noRoute',
  RULES_STOPPED: 'noRoute',
  SCHEME_DIFFERS: 'noRoute',
  PATH_DIFFERS: 'noRoute',
  CLIENT_DISABLED: 'offline',
  OWNER_DISABLED: 'offline',
  OWNER_EXPIRED: 'offline',
  CLIENT_EXPIRED: 'offline',
  TRAFFIC_USED_UP: 'exhausted',
  CONNECTIONS_USED_UP: 'tooMany',
  ON_GLOBAL_BLOCKLIST: 'forbidden',
  NOT_ON_ALLOWLIST: 'forbidden',
  ON_BLOCKLIST: 'forbidden',
  LOCAL_PROXY_OFF: 'offline',
  AGENT_AWAY: 'offline',
  HOST_TARGET_MISSING: 'offline',
  TARGETS_UNHEALTHY: 'unhealthy',
  TARGETS_SILENT: 'refused',
};

/** Adds to each gate of a host the page that its visitors see if it stops them. @param client its client, if there is one */
export function withPages(gates: readonly Gate[], client?: Client): Gate[] {
  return gates.map((gate) => {
    const [first] = gate.findings;
    if (gate.outcome !== 'STOPPED' || first === undefined) return gate;
    const asksPassword = first.code === 'NOT_ON_ALLOWLIST' && client !== undefined && client.ipWhitePassword !== '';
    return { ...gate, page: asksPassword ? 'notListed' : pages[first.code] ?? null };
  });
}

/** The page of a gate; null = none. */
export function visitorPageOf({ page }: Gate): VisitorPage | null {
  return page ? refusals[page] : null;
}
