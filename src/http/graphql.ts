import express, { type Request, type RequestHandler, type Response } from 'express';
import { GraphQLError } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { shareOf, type Caller } from '../rules/caller.ts';
import type { Services } from '../schema/services.ts';
import { AditError, createErrorMask, type ErrorCode, errorCodes } from '../schema/errors.ts';
import { schema } from '../schema/schema.ts';
import type { Settings } from '../settings/settings.ts';
import type { HttpCallers } from './callers.ts';
import { authenticate, type Authentication } from './graphql-authentication.ts';
import { queryLimits } from './graphql-limits.ts';
import { type Origin, runOperations } from './graphql-operations.ts';
import { sendGraphiql } from './graphiql.ts';
import { isNavigation } from './navigation.ts';
import { isForeign } from './origin.ts';
import { stalledMs } from './server.ts';

/** The most bytes of a request's body. */
const bodyLimit = 256 * 1024;

/** What the GraphQL endpoint is put together from. */
export interface GraphqlOptions {
  readonly services: Services;
  readonly settings: Pick<Settings, 'basePath'>;
  readonly callers: HttpCallers;
  /** ms, instead of {@link stalledMs} */
  readonly stalledMs?: number;
}

/**
 * `/graphql`: operations by POST with a JSON body, the GraphiQL editor for a browser that navigates there. Nobody gets
 * further than the door without having proven who they are, so introspection is for known callers alone too.
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

  return express.Router().use(requireOwnOrigin, async (request, response) => {
    // Finding out who calls takes time too.
    await services.turns.next(request.ip ?? '');
    const outcome = await authenticate(callers, request);
    if (outcome.kind !== 'known') return refuse(request, response, outcome);
    if (request.method === 'GET' && request.accepts(['json', 'html']) === 'html') return sendGraphiql(request, response);
    if (request.method !== 'POST') {
      response.set('Allow', 'POST');
      return fail(response, 405, 'FORBIDDEN', 'GraphQL operations are sent by POST');
    }
    if (request.is('json') === false) return fail(response, 415, 'INVALID_INPUT', 'the body has to be application/json');
    const { caller } = outcome;
    const endSlot = await takeSlot(services, caller);
    if (endSlot === undefined) return fail(response, 429, 'TOO_MANY_OPERATIONS', errorCodes.TOO_MANY_OPERATIONS.message);
    response.once('close', endSlot);
    if (response.closed) endSlot();
    // Proxies in front, such as nginx, would otherwise keep events back until they have a block of them.
    if (request.get('accept')?.includes('text/event-stream')) response.set('X-Accel-Buffering', 'no');
    return yoga(request, response, { caller, response, endSlot });
  });
}

/**
 * Refuses what another site made a browser send (browsers add Basic credentials by themselves). Together with the JSON body,
 * which a form can't send, no page elsewhere can run an operation.
 */
const requireOwnOrigin: RequestHandler = (request, response, next) => {
  if (request.method !== 'GET' && isForeign(request)) fail(response, 403, 'FORBIDDEN', 'the request comes from another site');
  else next();
};

function refuse(request: Request, response: Response, outcome: Exclude<Authentication, { kind: 'known' }>): void {
  if (outcome.kind === 'tooManyFailures') {
    response.set('Retry-After', String(outcome.retrySeconds));
    return fail(response, 429, 'UNAUTHENTICATED', 'too many failed logins from this address');
  }
  if (outcome.kind === 'foreign') return fail(response, 403, 'FORBIDDEN', outcome.reason);
  if (isNavigation(request)) response.set('WWW-Authenticate', 'Basic realm="adit", charset="UTF-8"');
  fail(response, 401, 'UNAUTHENTICATED', outcome.reason);
}

function fail(response: Response, status: number, code: ErrorCode, message: string): void {
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

/** A body that is too large is none that GraphQL's own validation refuses: the caller learns how large it may be. */
function sayingSize(maskError: (error: unknown) => GraphQLError): (error: unknown) => GraphQLError {
  return (error) => {
    if (!(error instanceof GraphQLError) || error.extensions['code'] !== 'REQUEST_ENTITY_TOO_LARGE') return maskError(error);
    const code: ErrorCode = 'BAD_REQUEST';
    return new GraphQLError(`the request body is larger than ${bodyLimit / 1024} KB`, { extensions: { code, http: { status: 413 } } });
  };
}

/** What validation says would get to the caller past the mask. */
function maskedValidation(maskError: ReturnType<typeof createErrorMask>): Plugin {
  return {
    onValidate: () => ({ result, setResult }) => {
      const errors: readonly unknown[] = result;
      setResult(errors.map(maskError));
    },
  };
}
