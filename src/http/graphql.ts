import express, { type Request, type RequestHandler, type Response } from 'express';
import { type ExecutionResult, GraphQLError } from 'graphql';
import { createYoga, isAsyncIterable, type Plugin } from 'graphql-yoga';
import { shareOf, type Caller } from '../rules/caller.ts';
import type { Services } from '../schema/services.ts';
import { type ErrorCode, errorCodes } from '../schema/error-codes.ts';
import { AditError, createErrorMask, withAllProblems } from '../schema/errors.ts';
import { schema } from '../schema/schema.ts';
import type { Settings } from '../settings/settings.ts';
import type { HttpCallers } from './callers.ts';
import { authenticate, type Authentication } from './graphql-authentication.ts';
import { queryLimits } from './graphql-limits.ts';
import { type Origin, runOperations } from './graphql-operations.ts';
import { isNavigation } from './navigation.ts';
import { isForeign } from './origin.ts';
import { panelDocument } from './panel.ts';
import { stalledMs } from './server.ts';

/** Maximum size of a request body in bytes. */
const bodyLimit = 256 * 1024;

/** The dependencies of the GraphQL endpoint. */
export interface GraphqlOptions {
  readonly services: Services;
  readonly settings: Pick<Settings, 'basePath'>;
  readonly callers: HttpCallers;
  /** ms; overrides {@link stalledMs} */
  readonly stalledMs?: number;
}

/**
 * `/graphql`: operations by POST with a JSON body, and the GraphiQL editor for browsers that navigate to it. Every request must
 * authenticate first, including introspection.
 */
export function createGraphql({ services, settings, callers, stalledMs: ms = stalledMs }: GraphqlOptions): RequestHandler {
  const maskError = sayingSize(createErrorMask(services.log));
  const yoga = createYoga<Origin>({
    schema,
    graphqlEndpoint: `${settings.basePath}/graphql`,
    graphiql: false,
    landingPage: false,
    cors: false,
    multipart: false,
    batching: false,
    maxRequestBodySize: bodyLimit,
    logging: false,
    maskedErrors: { maskError },
    plugins: [runOperations(services, ms), ...queryLimits, maskedValidation(maskError)],
  });

  const sendGraphiql = panelDocument('graphiql.html', settings.basePath);

  return express.Router().use(requireOwnOrigin, async (request, response, next) => {
    // Authentication takes time, too.
    await services.timeSlices.next(request.ip ?? '');
    const outcome = await authenticate(callers, request);
    if (outcome.kind !== 'known') return refuse(request, response, outcome);
    const isPage = request.method === 'GET' && request.accepts(['json', 'html']) === 'html';
    if (isPage) return sendGraphiql(request, response.vary('Accept'), next);
    if (request.method !== 'POST') {
      response.set('Allow', 'POST');
      return fail(response, 405, 'BAD_REQUEST', 'GraphQL operations are sent by POST');
    }
    if (request.is('json') === false) return fail(response, 415, 'BAD_REQUEST', 'the body has to be application/json');
    const { caller } = outcome;
    const endSlot = await takeSlot(services, caller);
    if (endSlot === undefined) return fail(response, 429, 'TOO_MANY_OPERATIONS');
    response.once('close', endSlot);
    if (response.closed) endSlot();
    // Otherwise proxies such as nginx would buffer events until they have a full block.
    if (request.get('accept')?.includes('text/event-stream')) response.set('X-Accel-Buffering', 'no');
    return yoga(request, response, { caller, response, endSlot });
  });
}

/**
 * Refuses requests that a browser sends on behalf of another site (browsers add Basic credentials automatically). Since a form
 * can't send a JSON body either, no page of another site can run an operation.
 */
const requireOwnOrigin: RequestHandler = (request, response, next) => {
  if (request.method !== 'GET' && isForeign(request)) fail(response, 403, 'FOREIGN_ORIGIN');
  else next();
};

function refuse(request: Request, response: Response, outcome: Exclude<Authentication, { kind: 'known' }>): void {
  if (outcome.kind === 'tooManyFailures') {
    response.set('Retry-After', String(outcome.retrySeconds));
    return fail(response, 429, 'UNAUTHENTICATED', 'too many failed logins from this address');
  }
  if (isNavigation(request)) response.set('WWW-Authenticate', 'Basic realm="adit", charset="UTF-8"');
  fail(response, 401, 'UNAUTHENTICATED', outcome.reason);
}

/** @param message for an error without a fixed message, or more specific than the table's message */
function fail(response: Response, status: number, code: ErrorCode, message: string = errorCodes[code].message): void {
  response.status(status).json({ errors: [{ message, extensions: { code } }] });
}

/** @returns undefined = the caller has too many operations */
async function takeSlot({ slots }: Services, caller: Caller): Promise<(() => void) | undefined> {
  try {
    return await slots.take(shareOf(caller));
  } catch (error) {
    if (error instanceof AditError) return undefined;
    throw error;
  }
}

/** Masks errors, but for a request body that is too large, the message states the maximum size. */
function sayingSize(maskError: (error: unknown) => GraphQLError): (error: unknown) => GraphQLError {
  return (error) => {
    if (!(error instanceof GraphQLError) || error.extensions['code'] !== 'REQUEST_ENTITY_TOO_LARGE') return maskError(error);
    const code: ErrorCode = 'BAD_REQUEST';
    return new GraphQLError(`the request body is larger than ${bodyLimit / 1024} KB`, { extensions: { code, http: { status: 413 } } });
  };
}

/** Masks validation errors, which would otherwise bypass the mask, and reports wrong literals, or wrong variables, together. */
function maskedValidation(maskError: ReturnType<typeof createErrorMask>): Plugin {
  const together = (
    { result, setResult }: { readonly result: AsyncIterable<ExecutionResult> | ExecutionResult; readonly setResult: (result: ExecutionResult) => void },
  ): void => {
    // Without data, the operation was not run: its variables do not fit.
    if (!isAsyncIterable(result) && result.data === undefined && result.errors !== undefined) {
      setResult({ ...result, errors: withAllProblems(result.errors.map(maskError)) });
    }
  };
  return {
    onValidate: () => ({ result, setResult }) => {
      const errors: readonly unknown[] = result;
      setResult(withAllProblems(errors.map(maskError)));
    },
    onExecute: () => ({ onExecuteDone: together }),
    onSubscribe: () => ({ onSubscribeResult: together }),
  };
}
