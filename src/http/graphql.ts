import { randomUUID } from 'node:crypto';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { execute, type ExecutionResult, subscribe } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Caller } from '../rules/caller.ts';
import { createContext } from '../schema/context.ts';
import type { Services } from '../schema/services.ts';
import { createErrorMask, type ErrorCode } from '../schema/errors.ts';
import { schema } from '../schema/schema.ts';
import type { Settings } from '../settings/settings.ts';
import type { HttpCallers } from './callers.ts';
import { authenticate, type Authentication } from './graphql-authentication.ts';
import { queryLimits } from './graphql-limits.ts';
import { sendGraphiql } from './graphiql.ts';
import { isNavigation } from './navigation.ts';
import { isForeign } from './origin.ts';

/** The most bytes of a request's body. */
const bodyLimit = 256 * 1024;

/** What the GraphQL endpoint is put together from. */
export interface GraphqlOptions {
  readonly services: Services;
  readonly settings: Pick<Settings, 'basePath'>;
  readonly callers: HttpCallers;
}

/** What a request brings into its operation. */
interface Origin {
  readonly caller: Caller;
}

/**
 * `/graphql`: operations by POST with a JSON body, the GraphiQL editor for a browser that navigates there. Nobody gets
 * further than the door without having proven who they are, so introspection is for known callers alone too.
 */
export function createGraphql({ services, settings, callers }: GraphqlOptions): RequestHandler {
  const maskError = createErrorMask(services.log);
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
    plugins: [callerContext(services), ...queryLimits, maskedValidation(maskError)],
  });

  return express.Router().use(requireOwnOrigin, async (request, response) => {
    const outcome = await authenticate(callers, request);
    if (outcome.kind !== 'known') return refuse(request, response, outcome);
    if (request.method === 'GET' && request.accepts(['json', 'html']) === 'html') return sendGraphiql(request, response);
    if (request.method !== 'POST') {
      response.set('Allow', 'POST');
      return fail(response, 405, 'FORBIDDEN', 'GraphQL operations are sent by POST');
    }
    if (request.is('json') === false) return fail(response, 415, 'INVALID_INPUT', 'the body has to be application/json');
    return yoga(request, response, { caller: outcome.caller });
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

/** What validation says would get to the caller past the mask. */
function maskedValidation(maskError: ReturnType<typeof createErrorMask>): Plugin {
  return {
    onValidate: () => ({ result, setResult }) => {
      const errors: readonly unknown[] = result;
      setResult(errors.map(maskError));
    },
  };
}

/** Gives resolvers the context of the schema. It is made of the one that yoga has built, since yoga would copy it. */
function callerContext(services: Services): Plugin<Origin> {
  return {
    onExecute({ args, setExecuteFn }) {
      const contextValue = createContext(services, args.contextValue.caller, randomUUID());
      setExecuteFn((given) => execute({ ...given, contextValue }));
    },
    onSubscribe({ args, setSubscribeFn }) {
      const contextValue = createContext(services, args.contextValue.caller, randomUUID());
      setSubscribeFn(async (given) => inItsStream(await subscribe({ ...given, contextValue })));
    },
  };
}

/** A subscription that is refused says so in its stream, as one that ends later does: yoga's own status for it, 500, is one whose body nobody reads. */
function inItsStream<T extends AsyncIterable<unknown> | ExecutionResult>(result: T): T {
  return 'errors' in result ? { ...result, extensions: { ...result.extensions, http: { status: 200 } } } : result;
}
