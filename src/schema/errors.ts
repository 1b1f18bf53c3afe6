import { randomUUID } from 'node:crypto';
import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { databaseFailure, failureNote } from '../store/database-failure.ts';
import { SearchTooBroadError } from '../store/errors.ts';
import { type ErrorCode, errorCodes } from './error-codes.ts';
import { withoutValues } from './graphql-messages.ts';
import { literalPath } from './literal-path.ts';

/** The parameters of an error in addition to its code; the caller gets them. `field`: the path of the argument or input field that caused it. */
export type ErrorParams = Readonly<Record<string, string | number>>;

/** A problem with the input: the code, message and parameters of its error, including `field`. */
type Problem = ErrorParams & { readonly code: ErrorCode; readonly message: string };

/**
 * The only error that resolvers throw deliberately: callers get its text, while all other errors are masked.
 * @example throw new AditError('NOT_FOUND', { resource: 'client' })
 */
export class AditError extends Error {
  override readonly name = 'AditError';
  readonly code: ErrorCode;
  readonly params: ErrorParams;
  /** The extensions of the GraphQL error: code and parameters, and for errors caused by a field all problems of the input. */
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: ErrorCode };

  /** @param message overrides the table's message @param others further problems of the same input */
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

/** The name of a field from its path: `targets` for `input.targets.0`. */
export function fieldName(path: string): string {
  return path.split('.').findLast((part) => !/^\d+$/.test(part)) ?? path;
}

/** The error for a value that violates a rule. `reason` continues "invalid <field>: ". @param field its path, relative to the check: see {@link Problems} */
export function invalidInput(field: string, reason: string, params: ErrorParams = {}): AditError {
  return new AditError('INVALID_INPUT', { ...params, field, reason });
}

/**
 * Creates the function that determines which part of an error a caller sees. Errors of our own table pass unchanged, and so do GraphQL's own errors
 * (syntax, validation, coercion), without the values that they quote. Other errors are logged with an id, and the caller gets only the id.
 */
export function createErrorMask(log: Logger): (error: unknown) => GraphQLError {
  return (error) => {
    const cause = rootCause(error);
    if (cause instanceof AditError) return asGraphQL(error);
    if (cause instanceof GraphQLError) return withCode(withoutValues(asGraphQL(error)));
    const masked = maskedError(cause, log, 'a request failed');
    const { nodes, source, positions, path } = asGraphQL(error);
    return new GraphQLError(masked.message, {
      nodes,
      source,
      positions,
      path,
      extensions: { ...masked.extensions, ...(isOutage(masked.code) && { http: { status: 503 } }) },
    });
  };
}

/**
 * The error for a caller after an unexpected error: the kind of database failure, or the id of the log entry.
 * @param about further fields of the log line
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

/** Whether an error is a temporary outage of the server: 503 over HTTP. */
export function isOutage(code: ErrorCode): boolean {
  return code === 'DATABASE_BUSY' || code === 'DATABASE_FULL' || code === 'DATABASE_READ_ONLY' || code === 'DATABASE_UNAVAILABLE';
}

/** The original error, without the executor's wrappers. */
function rootCause(error: unknown): unknown {
  let cause = error;
  while (cause instanceof Error && 'originalError' in cause && cause.originalError instanceof Error) cause = cause.originalError;
  return cause;
}

/** How messages of graphql-armor begin (http/graphql-limits.ts), which reports each limit as an error of syntax. */
const beforeLimit = /^Syntax Error: (?=[\w ]+ limit of \d+ exceeded)/;

/** Adds a code of the table to an error of GraphQL itself, and the path if a variable or a literal does not fit its type. */
function withCode(error: GraphQLError): GraphQLError {
  const { message, nodes, source, positions, path, extensions } = error;
  const text = message.replace(beforeLimit, '');
  if (text === message && typeof extensions['code'] === 'string' && Object.hasOwn(errorCodes, extensions['code'])) return error;
  const [, variable, at = variable] = /^Variable "\$(\w+)"(?:.*? at "([^"]+)")?/.exec(message) ?? [];
  const field = at?.replaceAll('[', '.').replaceAll(']', '') ?? literalPath(error);
  const own = field === undefined
    ? { code: text.startsWith('Syntax Error') ? 'GRAPHQL_PARSE_FAILED' : 'GRAPHQL_VALIDATION_FAILED' }
    : new AditError('INVALID_INPUT', { field }, message).extensions;
  return new GraphQLError(text, { nodes, source, positions, path, extensions: { ...extensions, ...own } });
}

/**
 * Reports all values that do not fit their types as one error with all problems, like other errors of an input. GraphQL has an error for each.
 * @param errors masked errors of an operation that was not run
 */
export function withAllProblems(errors: readonly GraphQLError[]): GraphQLError[] {
  const [first, ...others] = errors.filter(({ path, extensions }) => path === undefined && Array.isArray(extensions['problems']));
  if (first === undefined || others.length === 0) return [...errors];
  const { message, nodes, source, positions, extensions } = first;
  const problems = [first, ...others].flatMap((error): readonly unknown[] => Array.isArray(error.extensions['problems']) ? error.extensions['problems'] : []);
  const all = new GraphQLError(message, { nodes, source, positions, extensions: { ...extensions, problems } });
  return errors.filter((error) => !others.includes(error)).map((error) => error === first ? all : error);
}

function asGraphQL(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  if (error instanceof AditError) return new GraphQLError(error.message, { originalError: error });
  return new GraphQLError('unexpected error');
}
