import { type Coded, type GivenParams, textOf } from '../values/coded-text.ts';

/**
 * What a check of a diagnosis can find, with the English text. Its parameters are in braces; times are in ISO 8601. Frontends with another
 * language translate the codes.
 */
export const findings = {
  SCHEME_NOT_SERVED: 'the server has no port for {scheme} hosts',
  LOOK_UPS_LIMITED: 'too many names were looked up: wait a few seconds',
  NAME_NOT_ANSWERED: 'the DNS did not answer for {host}: {problem}',
  NAME_WITHOUT_ADDRESS: 'the DNS has no address for {host}',
  NAME_LEADS_INSIDE: '{host} leads to an address inside a network, which visitors elsewhere cannot reach',
  NAME_LEADS_TO: '{host} leads to {addresses}; the public address of this server is not set',
  NAME_LEADS_ELSEWHERE: '{host} leads to {addresses}, which is not this server; that is right if a proxy or router passes requests on',
  NAME_LEADS_HERE: 'the name leads to {address}, an address of this server',
  HOST_PORT_REACHED: 'port {port} accepts connections',
  HOST_PORT_NOT_REACHED: 'the server could not connect to its own port {port} at this address: {problem}',

  HOST_MATCHED: 'host {hostId} takes the request: {host}, location {location}, scheme {scheme}',
  NO_HOST_MATCHES: 'no host rule matches',
  OWN_NAME: "the domain is one of the server's own names",
  RULES_STOPPED: 'all matching rules are stopped',
  SCHEME_DIFFERS: 'the scheme differs from that of the matching rules',
  PATH_DIFFERS: 'the path does not match the location of any started rule',
  RULE_UNUSABLE: 'the rule has no usable target at the moment',
  NO_RULE: 'there is no rule to look at',
  MODE_NOT_SERVED: 'this server does not serve {mode} tunnels',
  PASSWORD_MISSING: 'the tunnel has no password, so visitors cannot connect',
  PASSWORD_ENTRY: 'visitors connect with the password',
  PORT_ENTRY: 'visitors connect to port {port}',
  PORT_OPENING: 'port {port} is not open: it is about to be opened',
  PORT_CLOSED: 'port {port} is not open: {problem}',
  PROXY_PROTOCOL_UNUSED: 'a {mode} tunnel sends no PROXY protocol header, only {modes} tunnels do',

  HTTP_REQUEST: 'HTTP needs no certificate',
  TLS_PASSED_THROUGH: 'the host has no certificate: TLS is passed through to the target',
  CERTIFICATE_VALID: 'the certificate ({origin}) is valid until {until}',
  CERTIFICATE_EXPIRING: 'the certificate expires soon, at {until}',
  CERTIFICATE_MISSING: 'there is no usable certificate',
  CERTIFICATE_EXPIRED: 'the certificate has expired',
  CERTIFICATE_NOT_YET_VALID: 'the certificate is not yet valid',
  CERTIFICATE_NOT_COVERED: 'the certificate does not cover the name',
  CERTIFICATE_PROBLEM: '{problem}',

  HOST_STOPPED: 'the host is stopped',
  TUNNEL_STOPPED: 'the tunnel is stopped',
  CLIENT_DISABLED: 'client {clientId} is disabled',
  HOST_STARTED: 'the host is started and client {clientId} is enabled',
  TUNNEL_STARTED: 'the tunnel is started and client {clientId} is enabled',

  OWNER_DISABLED: 'the owner {owner} is disabled',
  OWNER_EXPIRED: 'the owner {owner} expired at {at}',
  CLIENT_EXPIRED: 'client {clientId} expired at {at}',
  OWNED: 'client {clientId} belongs to {owner} and does not expire',
  OWNED_UNTIL: 'client {clientId} belongs to {owner} and expires at {at}',
  UNASSIGNED: 'client {clientId} belongs to nobody and does not expire',
  UNASSIGNED_UNTIL: 'client {clientId} belongs to nobody and expires at {at}',

  TRAFFIC_USED_UP: 'client {clientId} has used {used} of {limit} MiB',
  CONNECTIONS_USED_UP: 'client {clientId} has {used} of {limit} connections',
  WITHIN_LIMITS: 'traffic and connections of client {clientId} are within their limits',

  NO_LISTS: 'no list refuses visitors',
  ADDRESS_NEEDED: 'it depends on the address of the visitor',
  ADDRESS_INVALID: 'the visitor address is not an IP address',
  ADDRESS_ALLOWED: '{address} is allowed',
  ON_GLOBAL_BLOCKLIST: '{address} is on the global blocklist',
  NOT_ON_ALLOWLIST: '{address} is not on the allowlist of client {clientId}',
  ON_BLOCKLIST: '{address} is on the blocklist of client {clientId}',
  INVALID_LINES: 'these invalid lines are ignored: {lines}',

  SERVER_DIALS: 'the server dials the target itself',
  LOCAL_PROXY_OFF: 'the server would have to dial the target itself, but its settings do not allow that',
  AGENT_CONNECTED: 'the agent of client {clientId} is connected from {address}',
  AGENT_AWAY: 'the agent of client {clientId} is not connected',

  HOST_TARGET_MISSING: 'the host has no target',
  TUNNEL_TARGET_MISSING: 'the tunnel has no target',
  TARGETS_UNHEALTHY: 'no target passes its health checks: {target}: {problem}',
  TARGET_ANSWERED: '{target} answers',
  TARGETS_UNTRIED: 'connections go to {targets}; no connection was tried',
  HEALTHY_TARGETS_UNTRIED: 'connections go to {targets}, not to {unhealthy}, which fail their health checks; no connection was tried',
  TARGETS_SILENT: 'no target responds: {problem}',
  TARGET_OF_VISITOR: 'a {mode} tunnel has no target of its own',
  DIRECTORY_MISSING: 'the tunnel has no directory to serve',
  DIRECTORY_SERVED: "it serves {path} of the agent's machine, if its operator allows that; this was not checked",
} as const;

/** How to fix what stops a connection, with the English text. Its parameters are in braces. */
export const fixes = {
  OPEN_HOST_PORT: 'set the port for {scheme} hosts',
  POINT_NAME: 'let the DNS record of {host} lead to this server',
  SET_SERVER_URL: 'set the server URL in the global settings, so that it can be compared',
  FORWARD_PORT: 'see that the firewall and the router let port {port} through; some routers do not allow this from inside',

  ADD_HOST: 'add a host for this domain, or point the domain somewhere else',
  ASK_FOR_OWN_NAME: 'ask an administrator to make the host: only administrators give one of these names to a host',
  START_HOST: 'start the host',
  START_TUNNEL: 'start the tunnel',
  CHANGE_SCHEME: 'ask with the other scheme, or give the host the scheme `all`',
  ADD_LOCATION: 'add a host with this location, or one with the location /',
  ASK_ADMINISTRATOR: 'ask the administrator',
  CHANGE_MODE: 'choose another mode',
  SET_PASSWORD: 'give it a password',
  FREE_PORT: 'free the port, or give the tunnel another one',

  SET_CERTIFICATE: 'give the host a certificate with its key, or fix the files',
  REPLACE_CERTIFICATE: 'replace the certificate',
  REPLACE_CERTIFICATE_OR_SET_CLOCK: "replace the certificate, or set the server's clock",
  SET_CERTIFICATE_OF_NAME: 'give the host a certificate for this name',
  FIX_CERTIFICATE_FILES: 'fix the files: certificate and key have to be a pair that is valid now',
  WAIT_FOR_ACME: 'wait: it is ordered by ACME',
  LET_ACME_REACH: 'see that the name leads to this server and port 80 to its HTTP hosts; the next order is at {at}',

  ENABLE_CLIENT: 'enable client {clientId}',
  ENABLE_OWNER: 'enable the user {owner}',
  EXTEND_OWNER: 'give the user {owner} a later expiry',
  EXTEND_CLIENT: 'give client {clientId} a later expiry',
  RAISE_TRAFFIC: 'raise the traffic limit of client {clientId}',
  RAISE_CONNECTIONS: 'wait for one to end, or raise the limit of client {clientId}',

  GIVE_ADDRESS: 'ask again with a visitor address',
  GIVE_IP_ADDRESS: 'ask again with an IP address',
  LEAVE_GLOBAL_BLOCKLIST: 'take it off the global blocklist',
  ADD_TO_ALLOWLIST: 'add it, or switch the allowlist of client {clientId} off',
  LEAVE_BLOCKLIST: 'take it off the blocklist of client {clientId}',
  CORRECT_LINES: 'correct these lines: an address or a network like 192.0.2.0/24 each',

  ALLOW_LOCAL_PROXY: 'set allow_local_proxy, or switch localProxy off',
  START_AGENT: 'start the agent with the verification key of this client, and see that it reaches the bridge port',

  SET_HOST_TARGET: 'give the host a target',
  SET_TUNNEL_TARGET: 'give the tunnel a target',
  START_CHECKED_SERVICE: 'start the service behind the target, or correct the target or its checks',
  START_SERVICE: 'start the service behind the target, or correct the target',
  SET_DIRECTORY: "give it the path of one on the agent's machine",
} as const;

/** What a check has found. */
export type Finding = Coded<keyof typeof findings>;

/** How to fix it. */
export type Fix = Coded<keyof typeof fixes>;

/** Makes a finding; the compiler checks its parameters against the text. */
export function found<Code extends keyof typeof findings>(code: Code, ...[params]: GivenParams<typeof findings[Code]>): Finding {
  return { code, params: params ?? {} };
}

/** Makes a fix, in the same way. */
export function fix<Code extends keyof typeof fixes>(code: Code, ...[params]: GivenParams<typeof fixes[Code]>): Fix {
  return { code, params: params ?? {} };
}

/** The English text of a finding. */
export function findingText(finding: Finding): string {
  return textOf(findings, finding);
}

/** The English text of a fix. */
export function fixText(way: Fix): string {
  return textOf(fixes, way);
}
