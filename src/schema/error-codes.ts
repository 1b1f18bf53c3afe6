interface ErrorRow {
  /** When the error occurs, for the documentation. */
  readonly description: string;
  /** The contract's English text if the contract has one (D26); `{name}` is replaced by a parameter. */
  readonly message: string;
}

/** All errors that the schema can return. Resolvers can throw no others. */
export const errorCodes = {
  UNAUTHENTICATED: {
    description: 'The request has no valid credentials, or its address is locked out after too many failed attempts. The message tells which.',
    message: 'authentication required',
  },
  FORBIDDEN: { description: 'The caller does not have permission to do this.', message: 'permission denied' },
  FOREIGN_ORIGIN: { description: 'A browser sent the request on behalf of another site.', message: 'invalid request origin' },
  NOT_FOUND: { description: 'No record of type `resource` has this id, or the caller may not see it.', message: '{resource} ID not found' },
  INVALID_INPUT: { description: 'The value of `field` is invalid; nothing was changed.', message: 'invalid {field}: {reason}' },
  CONFLICT: {
    description:
      'The record (`resource`) is no longer the one with `expectedVersion`: somebody else has changed it. Nothing was changed. `version` is the current one.',
    message: 'the {resource} has changed since it was read',
  },
  VKEY_DUPLICATE: { description: 'Another client has this verification key.', message: 'Vkey duplicate, please reset' },
  OWNER_NOT_FOUND: { description: 'No user has the id given as the owner.', message: 'owner does not exist' },
  USER_ACCOUNT_REQUIRED: { description: 'Only a user account or an administrator may do this.', message: 'only a user account may add' },
  LEGACY_CLIENT_LOGIN: {
    description: "The caller is a client's web login; only user accounts have a password to change.",
    message: 'session is a legacy client login',
  },
  NOT_OWN_USER: { description: 'An ordinary user may change only the password of their own account.', message: 'not your user' },
  USERNAME_EMPTY: { description: 'A user needs a name.', message: 'username can not be empty' },
  USERNAME_DUPLICATE: { description: 'Another user, or the administrator, has this name.', message: 'username duplicate, please reset' },
  PASSWORD_EMPTY: { description: 'A new user needs a password.', message: 'password can not be empty' },
  NEW_PASSWORD_EMPTY: { description: 'The new password is missing, or contains only white space.', message: 'new password empty' },
  PASSWORD_TOO_SHORT: { description: 'A password must have at least 6 characters.', message: 'password must be at least 6 characters' },
  PASSWORD_MISMATCH: { description: 'The new password and its confirmation differ.', message: 'password mismatch' },
  CURRENT_PASSWORD_WRONG: { description: 'The current password is wrong.', message: 'current password wrong' },
  USER_CLIENTS_ABOVE_QUOTA: { description: 'The user has more clients than the new limit allows.', message: 'max clients below assigned count' },
  USER_EXPIRES_BEFORE_CLIENT: {
    description: 'The user would expire earlier than one of their clients, `id`.',
    message: "user expiry earlier than client {id}'s",
  },
  TOKEN_LIMIT: {
    description: 'The user, or all administrators together, already have the maximum number of tokens.',
    message: 'at most {most} tokens are allowed',
  },
  ENROLMENT_LIMIT: {
    description: 'The client already has the maximum number of codes that are neither used nor expired.',
    message: 'at most {most} open enrolments are allowed',
  },
  ENROLMENT_REFUSED: {
    description: 'The code does not exist, has expired, was revoked, or was used by another machine; or its client is disabled or has expired.',
    message: 'the code is invalid, expired or already used',
  },
  OWNER_CLIENT_QUOTA: { description: 'The owner already has the maximum number of clients.', message: "client count reached the owner's quota" },
  CLIENT_EXPIRES_AFTER_OWNER: { description: 'The client would expire later than its owner.', message: 'client expiry later than owner expiry' },
  WEB_LOGIN_INCOMPLETE: { description: 'A web user name requires a web password, and vice versa.', message: 'legacy web user and password must come together' },
  UNSUPPORTED_MODE: { description: 'This server cannot serve tunnels of this mode.', message: 'unsupported tunnel mode' },
  AGENTS_OWN: {
    description: "The record comes from the agent's configuration file: edit it there.",
    message: "this {resource} comes from the agent's configuration file: edit it there",
  },
  PORT_UNAVAILABLE: {
    description:
      'The port is in use or not among the allowed ports, or the address does not belong to this machine. `free` is the next port that is free, if one is near. `tunnelId` and `tunnelRemark` are of the tunnel that uses the port, if the caller may see it.',
    message: 'The port cannot be opened because it may has been occupied or is no longer allowed.',
  },
  PORT_IN_USE: {
    description: 'The tunnel is not running: its port is in use. `by` names the tunnel that uses the port, if the caller may see that tunnel.',
    message: 'port {port} is in use{by}',
  },
  CLIENT_TUNNEL_QUOTA: { description: 'The client already has the maximum number of tunnels and hosts.', message: 'The number of tunnels exceeds the limit' },
  USER_TUNNEL_QUOTA: { description: 'The owner already has the maximum number of tunnels and hosts.', message: 'The number of user tunnels exceeds the limit' },
  TUNNEL_KEY_DUPLICATE: { description: 'Another secret or p2p tunnel has this password.', message: 'secret mode keys {password} must be unique' },
  HOST_INVALID: { description: 'The host is not a domain name, an IP address, or a wildcard (`*.` and a name).', message: 'invalid host' },
  HOST_EXISTS: {
    description: 'Another host rule has the same host and location, for the same scheme: `hostId`, if the caller may see it.',
    message: 'host has exist',
  },
  HOST_OVERLAP: { description: 'The host would match requests to a host of another owner.', message: 'host route overlaps another tenant' },
  HOST_OWN_NAME: {
    description:
      'The name belongs to the server itself, or is an IP address. Only administrators may give such a name to a host, or order a certificate for it.',
    message: "the name is one of the server's own",
  },
  HOST_PUBLIC_SUFFIX: {
    description: 'The wildcard covers names of unrelated owners, such as `*.com`. Only administrators may use it.',
    message: 'wildcard of a public suffix',
  },
  CERTIFICATE_UNPAIRED: {
    description: 'A certificate has no private key, or a private key no certificate; `field` names the missing one.',
    message: 'a certificate and its private key must come together',
  },
  SERVER_URL_INVALID: {
    description: "The server's address is neither an http or https URL, nor a name or address with an optional port.",
    message: 'neither an http or https URL nor a name or address with an optional port',
  },
  ACME_NOT_FAILED: {
    description: 'There is nothing to retry: the host gets no certificate by ACME, or its last order has not failed.',
    message: 'no ACME order of this host has failed',
  },
  ACME_RETRY_LATER: {
    description: 'The order was retried too often within the last hour, or the authority asks to wait. `at` is when it can be retried.',
    message: 'the ACME order can be retried at {at}',
  },
  PLATFORM_NAMESPACE: { description: 'A custom host must not be below a platform domain.', message: 'custom host inside a platform namespace' },
  PLATFORM_DOMAIN_REQUIRED: { description: 'A platform host needs the id of its platform domain.', message: 'domain id empty' },
  PLATFORM_DOMAIN_UNKNOWN: { description: 'No platform domain has this id.', message: 'unknown domain' },
  PLATFORM_PREFIX_INVALID: { description: 'The prefix is not a single DNS label: 1 to 63 letters, digits and hyphens.', message: 'bad prefix' },
  PLATFORM_PREFIX_USED: { description: 'Another host uses this prefix of the platform domain.', message: 'prefix used' },
  PLATFORM_HOST_USED: { description: 'Another host already has the name that prefix and domain form.', message: 'full host used' },
  PLATFORM_HTTP_ONLY: {
    description: 'The platform domain has no certificate, so its hosts only support HTTP.',
    message: 'platform domain {wildcard} has no certificate: only http allowed',
  },
  PLATFORM_CERTIFICATE: { description: 'The certificate of a platform domain is not usable.', message: 'certificate of {wildcard}: {reason}' },
  PLATFORM_DOMAIN_INVALID: { description: 'An entry of the platform domains is invalid; nothing was changed.', message: '{reason}' },
  PLATFORM_DOMAIN_IN_USE: { description: 'Hosts use this platform domain, so it cannot be changed this way. Nothing was changed.', message: '{reason}' },
  DIAGNOSIS_REQUEST_INVALID: { description: 'The request to diagnose is invalid; `field` names the invalid part.', message: '{reason}' },
  OPERATION_TOO_COSTLY: {
    description: 'The operation could return more values than allowed. Request fewer rows or fields.',
    message: 'the operation could return more than {most} values',
  },
  RESULT_TOO_LARGE: {
    description:
      'The result has more rows or characters (`unit`) than allowed. Request fewer rows or fields. Changes that a mutation made before this error stay in effect.',
    message: 'the result has more than {most} {unit}',
  },
  TOO_MANY_OPERATIONS: { description: 'The caller already has the maximum number of operations running and queued.', message: 'too many operations at once' },
  SUBSCRIPTION_LIMIT: {
    description: 'The caller, or all callers together, already have the maximum number of subscriptions.',
    message: 'too many subscriptions',
  },
  SUBSCRIBER_TOO_SLOW: {
    description: 'The subscriber did not read fast enough: too many events were queued, and the server closed the subscription.',
    message: 'too many events were waiting for the subscriber',
  },
  SEARCH_TOO_BROAD: {
    description: 'The search reached its time limit. Search for a longer text, or in a narrower list.',
    message: 'the search took too long: narrow it',
  },
  DATABASE_BUSY: {
    description: 'The database did not respond in time: another program holds its lock, or too many operations are queued. Nothing was changed; try again.',
    message: 'the database is busy',
  },
  DATABASE_FULL: { description: 'The disk of the database is full. Nothing was changed.', message: 'the disk of the database is full' },
  DATABASE_READ_ONLY: {
    description: 'The database accepts no changes, such as a standby that was not promoted after a failover. Nothing was changed.',
    message: 'the database accepts no changes',
  },
  DATABASE_UNAVAILABLE: { description: 'The database is unreachable. It is unknown whether a change was stored.', message: 'the database can not be reached' },
  NODE_NOT_RUNNING: {
    description: 'The server has not reported to the database for 10 seconds, so it would not notice that it is to drain.',
    message: 'the server {name} is not running, or cannot reach the database',
  },
  NODE_ALONE: { description: 'No other server is running that could take over the agents of the server.', message: 'no other server could take over' },
  NODE_DRAINING: {
    description: 'The server is draining or stopping: use another one. Only `/readyz` returns this; the server still responds to everything else.',
    message: 'the server is draining',
  },
  GRAPHQL_PARSE_FAILED: { description: 'The operation is not valid GraphQL syntax.', message: '{reason}' },
  GRAPHQL_VALIDATION_FAILED: { description: 'The operation does not match the schema, or exceeds a limit on its size.', message: '{reason}' },
  BAD_REQUEST: {
    description: 'The HTTP request contains no operation: it is not a POST, or its body is not JSON, is too large, or has no `query`.',
    message: '{reason}',
  },
  INTERNAL: { description: 'An error in the server. `id` identifies its entry in the log.', message: 'internal error {id}' },
} as const satisfies Record<string, ErrorRow>;

/** The code of an error, in `extensions.code` of a GraphQL response. */
export type ErrorCode = keyof typeof errorCodes;
