import type { Request, RequestHandler, Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Caller } from '../rules/caller.ts';
import type { Settings } from '../settings/settings.ts';
import type { Callers } from './callers.ts';
import { failureStatus, failureText, knownError } from './errors.ts';
import { type Input, readInput, RequestAborted, tooLarge, UnreadableRequest } from './input.ts';
import { LargeBodies, usualBody } from './large-bodies.ts';
import { ListAnswer, sendList, sendRecord } from './list-answer.ts';
import type { OperationContext } from './operation.ts';
import { type Action, Redirect, type Route } from './route.ts';
import { routes } from './routes.ts';

/** The dependencies of the legacy API. */
export interface LegacyOptions {
  /** The schema against which the operations run, in process. */
  readonly schema: GraphQLSchema;
  /** Creates the context for resolvers. */
  readonly contextFor: (caller: Caller, request: Request) => OperationContext;
  readonly settings: Pick<Settings, 'authKey' | 'authCryptKey' | 'apiAuthFailureStatus' | 'basePath'>;
  readonly callers: Callers;
  /** Waits for a time slice for a call from an address. @returns undefined = continue immediately */
  readonly nextSlice: (address: string) => Promise<void> | undefined;
  /** ms since the epoch */
  readonly now?: () => number;
  readonly log: Logger;
}

/** A route that is ready for calls. */
interface Endpoint {
  readonly route: Route;
  readonly run: Action;
  /** Limits the calls from one address: calls `next`, or responds that there were too many. */
  readonly limit?: RequestHandler;
}

/**
 * Creates the router of the legacy API: the routes of the table, case-insensitive, with and without trailing slash, further path
 * segments ignored (contract section 0). Paths that aren't in the table are passed to the next handler. Mount it at the base
 * path, before anything that reads bodies.
 */
export function createLegacyRouter({ schema, contextFor, settings, callers, nextSlice, now = Date.now, log }: LegacyOptions): RequestHandler {
  const endpoints = bindAll({ schema, now, callers, authKey: settings.authKey, authCryptKey: settings.authCryptKey });
  const room = new LargeBodies();

  async function answer({ route, run }: Endpoint, request: Request, response: Response, next: () => void): Promise<void> {
    const address = request.ip ?? '';
    const input = await readInput(request, address, room);
    await nextSlice(address);
    if (route.access === 'anyone') {
      onlyUsual(input);
      const context = contextFor({ kind: 'anonymous', address }, request);
      return reply(response, await run({ request, response, input, context }));
    }
    const identified = await callers.identify(request, input);
    if ('caller' in identified) {
      if (route.panel && isRead(request)) return next();
      const { caller } = identified;
      if (caller.kind !== 'admin') onlyUsual(input);
      const context = contextFor(caller, request);
      const answered = await run({ request, response, input, caller, context });
      begin(response, 200);
      return answered instanceof ListAnswer ? sendList(response, answered, context) : sendRecord(response, answered, context);
    }
    if (identified.status === 401 && settings.apiAuthFailureStatus === 302) toLogin(response);
    else send(response, identified.status, { status: 0, msg: identified.msg });
  }

  /** Responds to a person with the panel's page, or its login (contract D1, D3). */
  async function open({ route, run }: Endpoint, request: Request, response: Response, next: () => void): Promise<void> {
    const input: Input = new Map();
    const identified = await callers.identify(request, input);
    if (!('caller' in identified)) return toLogin(response);
    if (!route.ownPage) return redirect(response, '/');
    // A caller who may not read the record of the page doesn't get the page (contract D19).
    const { caller } = identified;
    if (!route.panel) await run({ request, response, input, caller, context: contextFor(caller, request) });
    next();
  }

  function reply(response: Response, answered: object): void {
    if (answered instanceof Redirect) redirect(response, answered.path);
    else send(response, 200, answered);
  }

  function toLogin(response: Response): void {
    redirect(response, '/login/index');
  }

  function redirect(response: Response, path: string): void {
    response.statusCode = 302;
    response.setHeader('Location', `${settings.basePath}${path}`);
    response.end();
  }

  return (request, response, next) => {
    const endpoint = endpoints.get(actionPath(request.url));
    if (!endpoint) return next();
    const { route, limit } = endpoint;
    if (route.access !== 'anyone' && isNavigation(request)) {
      open(endpoint, request, response, next).catch((error: unknown) => fail(route, error, request, response, log));
      return;
    }
    const method = isRead(request) ? 'GET' : request.method;
    if (!route.methods.some((allowed) => allowed === method)) {
      response.setHeader('Allow', route.methods.join(', '));
      return send(response, 405, { status: 0, msg: 'method not allowed' });
    }
    const proceed = () => {
      answer(endpoint, request, response, next).catch((error: unknown) => fail(route, error, request, response, log));
    };
    if (limit) void limit(request, response, proceed);
    else proceed();
  };
}

function bindAll(boot: Parameters<Route['bind']>[0]): ReadonlyMap<string, Endpoint> {
  const endpoints = new Map<string, Endpoint>();
  for (const route of routes) {
    const endpoint = {
      route,
      run: onFirstCall(() => route.bind(boot)),
      ...(route.perMinute && { limit: perMinute(route.perMinute) }),
    };
    for (const path of [route.path, ...route.aliases]) endpoints.set(path, endpoint);
  }
  return endpoints;
}

/** Prepares an endpoint when it is called first: to compile all operations takes 5 MB and a tenth of the start, and most servers need few. */
function onFirstCall(prepare: () => Action): Action {
  let action: Action | undefined;
  return (call) => (action ??= prepare())(call);
}

function perMinute(limit: number): RequestHandler {
  return rateLimit({
    windowMs: 60_000,
    limit,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    // X-Forwarded-For from an untrusted client is not a configuration error; it is ignored if no proxy is trusted.
    validate: { xForwardedForHeader: false },
    handler: (_request, response) => send(response, 429, { status: 0, msg: 'too many requests' }),
  });
}

/** Only administrators have lists that need a larger body, and parsing one would delay others. @throws {UnreadableRequest} */
function onlyUsual({ bodyBytes = 0 }: Input): void {
  if (bodyBytes > usualBody) throw tooLarge(usualBody);
}

/** `/Client//List/x/y?a=b` becomes `/client/list`. Double slashes occur if a base address that ends in a slash is joined with a path. */
function actionPath(url: string): string {
  const query = url.indexOf('?');
  const path = (query < 0 ? url : url.slice(0, query)).replaceAll(/\/{2,}/g, '/');
  const controllerEnd = path.indexOf('/', 1);
  const actionEnd = controllerEnd < 0 ? -1 : path.indexOf('/', controllerEnd + 1);
  return (actionEnd < 0 ? path : path.slice(0, actionEnd)).toLowerCase();
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Whether a person opens a page in a browser, rather than a program making a call (D1); the panel handles that. */
function isNavigation(request: Request): boolean {
  return request.method === 'GET' && (request.headers.accept ?? '').includes('text/html')
    && !/[?&](?:auth_key|timestamp)=/.test(request.url);
}

function fail(route: Route, error: unknown, request: Request, response: Response, log: Logger): void {
  if (error instanceof RequestAborted) return;
  if (error instanceof UnreadableRequest) {
    // The rest of the body is not read, so the connection can't be reused.
    if (!request.complete) response.setHeader('Connection', 'close');
    return send(response, error.status, { status: 0, msg: error.message });
  }
  const known = knownError(error, log, route.path);
  // A part of the response was already sent; the truncated response must not look complete.
  if (response.headersSent) return void response.destroy();
  const msg = failureText(known, route.texts, route.fields);
  if (route.envelope !== 'single') return send(response, failureStatus(known.code), { status: 0, msg });
  // A missing record and a record of somebody else get the same response, so that ids can't be probed (D25).
  if (failureStatus(known.code) >= 500) send(response, failureStatus(known.code), { code: 0, msg });
  else send(response, 200, { code: 0 });
}

function send(response: Response, status: number, body: object): void {
  begin(response, status);
  response.end(JSON.stringify(body));
}

function begin(response: Response, status: number): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
}
