import * as z from 'zod';
import { sessionCookieName } from '../rules/session-cookie.ts';
import type { Parameter } from './parameters.ts';
import type { Route } from './route.ts';
import { shapes } from './shapes.ts';

/** The JSON of an OpenAPI document. */
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

/**
 * Describes the legacy API as an OpenAPI 3.1 document: every row of the table at its path and aliases, for each of its methods.
 * @param basePath path prefix; empty = none
 * @param version the program's version
 */
export function describeApi(routes: readonly Route[], { basePath, version }: { readonly basePath: string; readonly version: string }) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Adit management API',
      version,
      description:
        'Manages clients, users, tunnels and hosts. In an edit, absent parameters keep their values. Booleans are true and false (1 and 0 are accepted, too); '
        + 'blank numbers count as 0. Refused requests return HTTP 200 with status 0, or with code 0 for a single record. The trailing slash of a path is optional. '
        + 'The same functions and more are available over GraphQL at /graphql.',
    },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name })),
    paths: Object.fromEntries(routes.flatMap((route) => [route.path, ...route.aliases].map((path) => [pathOf(path), pathItem(route, path)] as const))),
    components: {
      securitySchemes: {
        signature: {
          type: 'apiKey',
          in: 'query',
          name: 'auth_key',
          description: 'Lower-case hex MD5 of the configured auth_key followed by timestamp. In the query or in the body.',
        },
        timestamp: {
          type: 'apiKey',
          in: 'query',
          name: 'timestamp',
          description: 'Unix seconds, at most 20 away from the time of the server (/auth/gettime/).',
        },
        token: { type: 'http', scheme: 'bearer', description: 'An API token.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookieName(false, basePath),
          description: `The cookie of /login/verify/; over HTTPS it is ${sessionCookieName(true, basePath)}.`,
        },
      },
      schemas: {
        Write: write,
        Failure: failure,
        NoRecord: noRecord,
        ...Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, schemaOf(shape)] as const)),
      },
      responses: {
        Unauthenticated: answer('The caller is not authenticated, or its credentials are wrong or expired.', reference('Failure')),
        Forbidden: answer('The caller may not do this.', reference('Failure')),
        TooMany: answer('Too many calls from this address.', reference('Failure')),
        TooLarge: answer('The request body is larger than 3 MB, or than 256 KB of a caller who is not an administrator.', reference('Failure')),
      },
    },
  } satisfies JsonObject;
}

const jsonObject = z.record(z.string(), z.json());

/** Any one of these is sufficient. */
const security: Json = [{ signature: [], timestamp: [] }, { token: [] }, { session: [] }];

const write: JsonObject = {
  type: 'object',
  properties: { status: { const: 1 }, msg: { type: 'string' }, id: { type: 'integer', description: 'The id of the new record.' } },
  required: ['status', 'msg'],
};

const failure: JsonObject = {
  type: 'object',
  properties: { status: { const: 0 }, msg: { type: 'string', description: 'The reason, for people.' } },
  required: ['status'],
};

const noRecord: JsonObject = { type: 'object', properties: { code: { const: 0 } }, required: ['code'] };

function pathOf(path: string): string {
  return `${path}/`;
}

/** `/client/list` -> `client` */
function tagOf({ path }: Route): string {
  return path.split('/')[1] ?? '';
}

function pathItem(route: Route, path: string): JsonObject {
  return Object.fromEntries(route.methods.map((method) => [method.toLowerCase(), {
    operationId: `${method.toLowerCase()}${path.replaceAll('/', '_')}`,
    summary: route.summary,
    tags: [tagOf(route)],
    ...(path !== route.path && { deprecated: true, description: `Another name of ${pathOf(route.path)}.` }),
    security: route.access === 'anyone' ? [] : security,
    ...(method === 'GET' ? { parameters: queryParameters(route) } : requestBody(route)),
    responses: {
      ...(route.redirects
        ? { 302: { description: 'The login page.' } }
        : { 200: answer('The answer; a refused call is answered with HTTP 200 as well.', answerSchema(route, method)) }),
      ...(route.access !== 'anyone' && { 401: { $ref: '#/components/responses/Unauthenticated' }, 403: { $ref: '#/components/responses/Forbidden' } }),
      ...(method !== 'GET' && { 413: { $ref: '#/components/responses/TooLarge' } }),
      ...(route.perMinute !== undefined && { 429: { $ref: '#/components/responses/TooMany' } }),
    },
  }]));
}

function queryParameters(route: Route): Json {
  // GET on a panel's route opens a page; the parameters belong to POST.
  if (route.panel) return [];
  return Object.entries(route.parameters).map(([name, parameter]) => ({
    name,
    in: 'query',
    required: parameter.required ?? false,
    description: parameter.description ?? '',
    schema: valueSchema(parameter),
  }));
}

/** The three encodings of contract D24. */
function requestBody({ parameters }: Route): JsonObject {
  const names = Object.keys(parameters);
  if (names.length === 0) return {};
  const required = names.filter((name) => parameters[name]?.required);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(parameters).map(([name, parameter]) => [name, { ...valueSchema(parameter), description: parameter.description ?? '' }]),
    ),
    ...(required.length > 0 && { required }),
  };
  return {
    requestBody: {
      required: required.length > 0,
      content: Object.fromEntries(['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json'].map((type) => [type, { schema }])),
    },
  };
}

function valueSchema({ kind, choices, maximum }: Parameter<unknown>): JsonObject {
  if (choices) return { type: 'string', enum: choices };
  switch (kind) {
    case 'id':
      return { type: 'integer', minimum: 0 };
    case 'integer':
      return { type: 'integer', minimum: 0, ...(maximum !== undefined && { maximum }) };
    case 'boolean':
      return { type: 'boolean' };
    case 'list':
      return { type: 'string', format: 'lines', examples: ['first\r\nsecond'] };
    case 'time':
      return { type: 'string', format: 'local-time', examples: ['2027-01-31 12:00:00', '2027-01-31'] };
    case 'text':
    case 'choice':
      return { type: 'string' };
  }
}

function answerSchema(route: Route, method: string): JsonObject {
  if (route.panel && method === 'GET') return {};
  switch (route.envelope) {
    case 'write':
      return {
        oneOf: [
          { allOf: [reference('Write'), ...(route.creates ? [{ type: 'object', required: ['id'] }] : []), ...(route.answer ? [reference(route.answer)] : [])] },
          reference('Failure'),
        ],
      };
    case 'single':
      return {
        oneOf: [{ type: 'object', properties: { code: { const: 1 }, data: shapeOf(route) }, required: ['code', 'data'] }, reference('NoRecord')],
      };
    case 'list':
      return {
        type: 'object',
        properties: { rows: { type: 'array', items: shapeOf(route) }, total: { type: 'integer', description: 'The total number of records.' } },
        required: ['rows', 'total'],
      };
    case 'raw':
      return shapeOf(route);
  }
}

function shapeOf({ answer: name }: Route): JsonObject {
  return name === undefined ? {} : reference(name);
}

/** Omits the name of the dialect, which is OpenAPI's default. */
function schemaOf(shape: z.ZodType): JsonObject {
  const { $schema: _dialect, ...schema } = jsonObject.parse(z.toJSONSchema(shape, { io: 'input' }));
  return schema;
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function answer(description: string, schema: JsonObject): JsonObject {
  return { description, content: { 'application/json': { schema } } };
}
