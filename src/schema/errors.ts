import { randomUUID } from 'node:crypto';
import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { databaseFailure, failureNote } from '../store/database-failure.ts';
import { SearchTooBroadError } from '../store/errors.ts';
import { withoutValues } from './graphql-messages.ts';

/** What the parts of an error beside its code may hold; they reach the caller. `field`: the path of the argument, or of the field of an input, that caused it. */
export type ErrorParams = Readonly<Record<string, string | number>>;

/** One thing that is wrong with what a caller sent: the parameters of its error, `field` among them. */
export type Problem = ErrorParams & { readonly code: ErrorCode; readonly message: string };

interface ErrorRow {
  /** When it happens, for the documentation. */
  readonly description: string;
  /** The contract's English text where it has one (D26); `{name}` stands for a parameter. */
  readonly message: string;
}

/** Every error the schema answers with. Closed: a resolver can throw no other. */
export const errorCodes = {
  UNAUTHENTICATED: { description: 'The call carries no valid credentials.', message: 'authentication required' },
  FORBIDDEN: { description: 'The caller may not do this.', message: 'permission denied' },
  FOREIGN_ORIGIN: { description: 'A browser sent the request for another site.', message: 'invalid request origin' },
  NOT_FOUND: { description: 'No record of `resource` has this id, or the caller may not see it.', message: '{resource} ID not found' },
  INVALID_INPUT: { description: 'The value of `field` is not acceptable; nothing was changed.', message: 'invalid {field}: {reason}' },
  VKEY_DUPLICATE: { description: 'Another client has this verification key.', message: 'Vkey duplicate, please reset' },
  OWNER_NOT_FOUND: { description: 'No user has the id given as owner.', message: 'owner does not exist' },
  USER_ACCOUNT_REQUIRED: { description: 'Only the account of a user, or an administrator, may do this.', message: 'only a user account may add' },
  LEGACY_CLIENT_LOGIN: { description: "The caller is a client's web login, and only the account of a user has a password.", message: 'session is a legacy client login' },
  NOT_OWN_USER: { description: 'An ordinary user may change only the password of their own account.', message: 'not your user' },
  USERNAME_EMPTY: { description: 'A user needs a name.', message: 'username can not be empty' },
  USERNAME_DUPLICATE: { description: 'Another user, or the administrator, has this name.', message: 'username duplicate, please reset' },
  PASSWORD_EMPTY: { description: 'A new user needs a password.', message: 'password can not be empty' },
  NEW_PASSWORD_EMPTY: { description: 'There is no new password, or only white space.', message: 'new password empty' },
  PASSWORD_TOO_SHORT: { description: 'A password has at least 6 characters.', message: 'password must be at least 6 characters' },
  PASSWORD_MISMATCH: { description: 'The new password and its confirmation differ.', message: 'password mismatch' },
  CURRENT_PASSWORD_WRONG: { description: 'The current password is another.', message: 'current password wrong' },
  USER_CLIENTS_ABOVE_QUOTA: { description: 'The user has more clients than the new limit allows.', message: 'max clients below assigned count' },
  USER_EXPIRES_BEFORE_CLIENT: { description: "A user's expiry may not be earlier than that of one of the clients, `id`.", message: "user expiry earlier than client {id}'s" },
  TOKEN_LIMIT: { description: 'The user, or the administrators, have as many tokens as allowed.', message: 'at most {most} tokens are allowed' },
  OWNER_CLIENT_QUOTA: { description: 'The owner has as many clients as allowed.', message: "client count reached the owner's quota" },
  CLIENT_EXPIRES_AFTER_OWNER: { description: "A client's own expiry may not be later than its owner's.", message: 'client expiry later than owner expiry' },
  WEB_LOGIN_INCOMPLETE: { description: 'Web user name and web password are set together or not at all.', message: 'legacy web user and password must come together' },
  UNSUPPORTED_MODE: { description: 'This server cannot serve tunnels of this mode.', message: 'unsupported tunnel mode' },
  AGENTS_OWN: { description: "The record comes from the agent's configuration file, and is edited there.", message: 'the agent brought this {resource} along: edit it in its configuration file' },
  PORT_UNAVAILABLE: {
    description: 'The port is occupied, not among the allowed ones, or the address is not of this machine.',
    message: 'The port cannot be opened because it may has been occupied or is no longer allowed.',
  },
  PORT_IN_USE: {
    description: 'The tunnel is not started: its port is in use. `by` names the tunnel that has it, if the caller may see that one.',
    message: 'port {port} is in use{by}',
  },
  CLIENT_TUNNEL_QUOTA: { description: 'The client has as many tunnels and hosts as allowed.', message: 'The number of tunnels exceeds the limit' },
  USER_TUNNEL_QUOTA: { description: 'The owner has as many tunnels and hosts as allowed.', message: 'The number of user tunnels exceeds the limit' },
  TUNNEL_KEY_DUPLICATE: { description: 'Another secret or p2p tunnel has this password.', message: 'secret mode keys {password} must be unique' },
  HOST_INVALID: { description: 'The host is neither a name, nor an address, nor `*.` and a name.', message: 'invalid host' },
  HOST_EXISTS: { description: 'Another host rule has the same host and location, for the same scheme.', message: 'host has exist' },
  HOST_OVERLAP: { description: "A host rule of another owner would take requests of this one, or this one that one's.", message: 'host route overlaps another tenant' },
  HOST_OWN_NAME: { description: 'The name is one of the server itself, or an IP address: only administrators give one to a host, or order a certificate for it.', message: "the name is one of the server's own" },
  HOST_PUBLIC_SUFFIX: { description: 'The wildcard covers names of different people, such as `*.com`: only administrators may use it.', message: 'wildcard of a public suffix' },
  PLATFORM_NAMESPACE: { description: 'A custom host may not lie below a platform domain.', message: 'custom host inside a platform namespace' },
  PLATFORM_DOMAIN_REQUIRED: { description: 'A platform host needs the id of its platform domain.', message: 'domain id empty' },
  PLATFORM_DOMAIN_UNKNOWN: { description: 'No platform domain has this id.', message: 'unknown domain' },
  PLATFORM_PREFIX_INVALID: { description: 'The prefix is not one DNS label: 1 to 63 letters, digits and hyphens.', message: 'bad prefix' },
  PLATFORM_PREFIX_USED: { description: 'Another host has this prefix of the platform domain.', message: 'prefix used' },
  PLATFORM_HOST_USED: { description: 'A host rule has the very host that domain and prefix make.', message: 'full host used' },
  PLATFORM_HTTP_ONLY: { description: 'The platform domain has no certificate, so its hosts are for http.', message: 'platform domain {wildcard} has no certificate: only http allowed' },
  PLATFORM_CERTIFICATE: { description: "The certificate of a platform domain can't be used.", message: 'certificate of {wildcard}: {reason}' },
  PLATFORM_DOMAIN_INVALID: { description: 'An entry of the platform domains is not acceptable; nothing was changed.', message: '{reason}' },
  PLATFORM_DOMAIN_IN_USE: { description: 'Hosts of the platform domain stand against the change; nothing was changed.', message: '{reason}' },
  DIAGNOSIS_REQUEST_INVALID: { description: 'What is to be diagnosed is no request; `field` is at fault.', message: '{reason}' },
  OPERATION_TOO_COSTLY: { description: 'The operation could return more values than one operation may: ask for fewer rows, or fields.', message: 'the operation could return more than {most} values' },
  RESULT_TOO_LARGE: { description: 'The result has more rows or characters (`unit`) than one result may: ask for fewer rows, or fields.', message: 'the result has more than {most} {unit}' },
  TOO_MANY_OPERATIONS: { description: 'As many operations of the caller as allowed are under way or waiting.', message: 'too many operations at once' },
  SUBSCRIPTION_LIMIT: { description: 'The caller, or all callers together, have as many subscriptions as allowed.', message: 'too many subscriptions' },
  SUBSCRIBER_TOO_SLOW: { description: 'The subscriber let too many events pile up and was cut off.', message: 'too many events were waiting for the subscriber' },
  SEARCH_TOO_BROAD: { description: 'The search worked for as long as one may: search for a longer text, or in a narrower list.', message: 'the search took too long: narrow it' },
  DATABASE_BUSY: { description: 'The database could not do it in time: another program has its lock, or too much is waiting for it. Nothing was changed; try again.', message: 'the database is busy' },
  DATABASE_FULL: { description: 'The disk of the database is full. Nothing was changed.', message: 'the disk of the database is full' },
  DATABASE_UNAVAILABLE: { description: "The database can't be reached. Whether a change was stored is not certain.", message: 'the database can not be reached' },
  GRAPHQL_PARSE_FAILED: { description: 'The text of the operation is no GraphQL.', message: '{reason}' },
  GRAPHQL_VALIDATION_FAILED: { description: 'The operation does not fit the schema, or is larger than one may be.', message: '{reason}' },
  BAD_REQUEST: { description: 'The HTTP request holds no operation: its body is no JSON, or lacks `query`.', message: '{reason}' },
  INTERNAL: { description: 'A fault of the server; `id` names the entry in its log.', message: 'internal error {id}' },
} as const satisfies Record<string, ErrorRow>;

/** The code of an error, in `extensions.code` of a GraphQL answer. */
export type ErrorCode = keyof typeof errorCodes;

/**
 * The one error that resolvers throw on purpose: its text reaches the caller, everything else is masked.
 * @example throw new AditError('NOT_FOUND', { resource: 'client' })
 */
export class AditError extends Error {
  override readonly name = 'AditError';
  readonly code: ErrorCode;
  readonly params: ErrorParams;
  /** Copied to the GraphQL error: the code and the parameters, and of an error that a field caused all problems of the input. */
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: ErrorCode };

  /** @param message instead of the table's @param others what else is wrong with the same input */
  constructor(code: ErrorCode, params: ErrorParams = {}, message = messageOf(code, params), others: readonly AditError[] = []) {
    super(message);
    this.code = code;
    this.params = params;
    const problems = [{ ...params, code, message }, ...others.map((other): Problem => ({ ...other.params, code: other.code, message: other.message }))];
    this.extensions = { ...params, code, ...('field' in params && { problems }) };
  }
}

function messageOf(code: ErrorCode, params: ErrorParams): string {
  const said: ErrorParams = 'field' in params ? { ...params, field: fieldName(String(params['field'])) } : params;
  return errorCodes[code].message.replace(/\{(\w+)\}/g, (_, name: string) => String(said[name] ?? ''));
}

/** What a field is called at the end of its path: `targets` of `input.targets.0`. */
export function fieldName(path: string): string {
  return path.split('.').findLast((part) => !/^\d+$/.test(part)) ?? path;
}

/** A value that breaks a rule. `reason` reads on after "invalid <field>: ". @param field its path, from where the check begins: see {@link Problems} */
export function invalidInput(field: string, reason: string, params: ErrorParams = {}): AditError {
  return new AditError('INVALID_INPUT', { ...params, field, reason });
}

/**
 * Makes the function that decides what of an error a caller sees. Errors of our own table pass, and GraphQL's own (syntax, validation,
 * coercion) without the values that they quote; anything else is logged with an id, and the caller gets only the id.
 */
export function createErrorMask(log: Logger): (error: unknown) => GraphQLError {
  return (error) => {
    const cause = rootCause(error);
    if (cause instanceof AditError) return asGraphQL(error);
    if (cause instanceof GraphQLError) return withCode(withoutValues(asGraphQL(error)));
    const masked = maskedError(cause, log, 'a request failed');
    const { nodes, source, positions, path } = asGraphQL(error);
    return new GraphQLError(masked.message, { nodes, source, positions, path, extensions: { ...masked.extensions, ...(isOutage(masked.code) && { http: { status: 503 } }) } });
  };
}

/**
 * What a caller is told of an error that is not of our own table: which way the database is out of order, or the id of the entry in the log.
 * @param about what failed, with the parts that the log line has besides
 */
export function maskedError(cause: unknown, log: Logger, message: string, about: Readonly<Record<string, unknown>> = {}): AditError {
  if (cause instanceof SearchTooBroadError) return new AditError('SEARCH_TOO_BROAD');
  const failure = databaseFailure(cause);
  if (failure !== undefined) {
    log.warn({ ...about, ...failureNote(cause) }, message);
    return new AditError(failure);
  }
  const id = randomUUID();
  log.error({ ...about, err: cause, errorId: id }, message);
  return new AditError('INTERNAL', { id });
}

/** Whether an error says that the server can't do its work at present: over HTTP a 503. */
export function isOutage(code: ErrorCode): boolean {
  return code === 'DATABASE_BUSY' || code === 'DATABASE_FULL' || code === 'DATABASE_UNAVAILABLE';
}

/** The error that was thrown, below what the executor wrapped around it. */
function rootCause(error: unknown): unknown {
  let cause = error;
  while (cause instanceof Error && 'originalError' in cause && cause.originalError instanceof Error) cause = cause.originalError;
  return cause;
}

/** An error of GraphQL itself with a code of the table; of a variable whose value does not fit its type also with the path of that value. */
function withCode(error: GraphQLError): GraphQLError {
  const { message, nodes, source, positions, path, extensions } = error;
  if (typeof extensions['code'] === 'string' && Object.hasOwn(errorCodes, extensions['code'])) return error;
  const [, variable, at = variable] = /^Variable "\$(\w+)"(?:.*? at "([^"]+)")?/.exec(message) ?? [];
  const field = at?.replaceAll('[', '.').replaceAll(']', '');
  const own = field === undefined
    ? { code: message.startsWith('Syntax Error') ? 'GRAPHQL_PARSE_FAILED' : 'GRAPHQL_VALIDATION_FAILED' }
    : new AditError('INVALID_INPUT', { field }, message).extensions;
  return new GraphQLError(message, { nodes, source, positions, path, extensions: { ...extensions, ...own } });
}

function asGraphQL(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  if (error instanceof AditError) return new GraphQLError(error.message, { originalError: error });
  return new GraphQLError('unexpected error');
}
