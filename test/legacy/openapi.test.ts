import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from '@jest/globals';
import { testApis } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';
import { invalidParameter } from '../../src/legacy/errors.ts';
import { describeApi } from '../../src/legacy/openapi.ts';
import { about, boolean, choice, forAdministrators, id, integer, list, owner, required, text, time, type Parameters } from '../../src/legacy/parameters.ts';
import type { Route } from '../../src/legacy/route.ts';
import { routes } from '../../src/legacy/routes.ts';
import { shapes } from '../../src/legacy/shapes.ts';

const document = describeApi(routes, { basePath: '/base', version: '1.2.3' });

test('the description is an OpenAPI 3.1 document', async () => {
  const validator = new Validator();
  expect(await validator.validate(JSON.parse(JSON.stringify(document)))).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

test('it has every row of the table at all of its paths, with all of its methods and parameters, and nothing else', () => {
  const described = routes.flatMap(({ path, aliases, methods }) =>
    [path, ...aliases].map((name) => [`${name}/`, methods.map((method) => method.toLowerCase())])
  );
  expect(Object.entries(document.paths).map(([path, item]) => [path, Object.keys(item)])).toEqual(described);
  for (const { path, parameters, methods, panel } of routes) {
    const names = Object.keys(parameters);
    const item = JSON.parse(JSON.stringify(document.paths[`${path}/`]));
    if (methods.includes('GET') && !panel) expect([path, item.get.parameters.map(({ name }: { name: string }) => name)]).toEqual([path, names]);
    if (methods.includes('POST')) {
      const content: Record<string, { schema: { properties: object } }> = item.post.requestBody?.content ?? {};
      const bodies = Object.values(content).map(({ schema }) => Object.keys(schema.properties));
      expect([path, bodies]).toEqual([path, names.length === 0 ? [] : [names, names, names]]);
    }
  }
});

test('what a call needs is required, and a page of the panel has no described answer', () => {
  const { get, post } = JSON.parse(JSON.stringify(document.paths['/client/getclient/']));
  expect(post.requestBody.required).toBe(true);
  for (const { schema } of Object.values<{ schema: object }>(post.requestBody.content)) expect(schema).toMatchObject({ required: ['id'] });
  const answer = post.responses['200'].content['application/json'].schema;
  expect(Object.keys(answer)).toEqual(['oneOf']);
  expect(get.parameters).toMatchObject([{ name: 'id', required: true }]);
  for (const { path, methods, panel, redirects } of routes) {
    if (!methods.includes('GET') || redirects) continue;
    const page = JSON.parse(JSON.stringify(document.paths[`${path}/`])).get;
    expect([path, Object.keys(page.responses['200'].content['application/json'].schema).length === 0]).toEqual([path, panel === true]);
  }
});

test('every row and every parameter says what it is, and a choice what there is to choose', () => {
  const silent = routes.flatMap(({ path, summary, parameters }) => [
    ...(summary.endsWith('.') ? [] : [path]),
    ...Object.entries(parameters).filter(([, { description, kind, choices }]) => !description?.endsWith('.') || (kind === 'choice' && !choices?.length)).map((
      [name],
    ) => `${path} ${name}`),
  ]);
  expect(silent).toEqual([]);
});

test('operations have names of their own, and say who may call', () => {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(JSON.parse(JSON.stringify(item)))) as {
    operationId: string;
    security: object[];
  }[];
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  expect(operations.filter(({ security }) => security.length === 0).map(({ operationId }) => operationId)).toEqual(
    routes.filter(({ access }) => access === 'anyone').flatMap(({ path, aliases, methods }) =>
      [path, ...aliases].flatMap((name) => methods.map((method) => `${method.toLowerCase()}${name.replaceAll('/', '_')}`))
    ),
  );
});

const apis = testApis(testDatabases('sqlite'));

test('what the reading endpoints answer has exactly the keys that the description names', async () => {
  const api = await apis.start();
  await api.signed('/user/add/', { username: 'alice', password: 'a password' });
  await api.signed('/client/add/', { user_id: 1 });
  await api.signed('/index/add/', { client_id: 1, type: 'tcp', port: 0, target: '127.0.0.1:22' });
  await api.signed('/index/addhost/', { client_id: 1, host: 'a.example', target: '127.0.0.1:80' });
  await api.signed('/global/save/', { globalBlackIpList: '192.0.2.1', platform_domains: JSON.stringify([{ Wildcard: '*.b.example' }]) });
  const domain = await api.store.db.platformDomain.findFirstOrThrow();
  const sent: Record<string, Record<string, string>> = {
    '/index/hostdiagnose': { host: 'a.example', scheme: 'http' },
    '/login/verify': { username: 'x', password: 'x' },
  };
  for (const { path, envelope, answer, methods } of routes) {
    if (answer === undefined) continue;
    const method = methods.includes('POST') ? 'POST' : 'GET';
    const { body } = await api.signed(`${path}/`, { id: 1, platform_domain_id: domain.id, platform_prefix: 'x', ...sent[path] }, {
      method,
      ...(method === 'GET' && { encoding: 'query' }),
    });
    const all = JSON.parse(JSON.stringify(body));
    const { status: _status, msg: _msg, ...extra } = all;
    const received = envelope === 'list' ? all.rows[0] : envelope === 'single' ? all.data : envelope === 'write' ? extra : all;
    // Parsed, it lacks what the shape does not have, at any depth.
    expect({ path, answer: shapes[answer].parse(received) }).toEqual({ path, answer: received });
  }
});

test('every endpoint that answers more than a text has its answer described', () => {
  expect(routes.filter(({ envelope, answer, redirects }) => envelope !== 'write' && !redirects && answer === undefined)).toEqual([]);
});

describe('of rows of each kind, it says', () => {
  const about_ = (name: string) => `What ${name} is.`;
  const parameters: Parameters = {
    id: id('host'),
    name: about(about_('name'), required(() => invalidParameter('name'))),
    note: about(about_('note'), text()),
    port: about(about_('port'), integer(65_535)),
    count: about(about_('count'), { ...integer(), maximum: undefined }),
    on: about(about_('on'), boolean()),
    lines: about(about_('lines'), list()),
    until: about(about_('until'), time()),
    mode: about(about_('mode'), choice({ tcp: 1, udp: 2, '': 3 })),
    owner: forAdministrators(owner()),
  };
  const row = { aliases: [], access: 'caller', parameters: {}, bind: () => () => ({}) } as const;
  const rows: readonly Route[] = [
    { ...row, path: '/a/add', aliases: ['/b/add'], methods: ['GET', 'POST'], summary: 'Adds.', parameters, envelope: 'write', creates: true, panel: true },
    {
      ...row,
      path: '/a/write',
      methods: ['POST'],
      summary: 'Writes.',
      parameters: { note: text() },
      envelope: 'write',
      answer: 'AllowedAddresses',
      perMinute: 5,
    },
    { ...row, path: '/a/one', methods: ['GET', 'POST'], summary: 'One.', parameters: { id: id('host') }, envelope: 'single', answer: 'Host' },
    { ...row, path: '/a/list', methods: ['GET'], summary: 'Lists.', parameters: { note: text() }, envelope: 'list', answer: 'Tunnel' },
    { ...row, path: '/a/time', methods: ['GET'], summary: 'Time.', access: 'anyone', envelope: 'raw', answer: 'Time' },
    { ...row, path: '/a/out', methods: ['GET'], summary: 'Out.', access: 'anyone', envelope: 'raw', redirects: true },
    { ...row, path: '/a/raw', methods: ['GET'], summary: 'Raw.', envelope: 'raw' },
  ];
  const { paths, components, ...head } = describeApi(rows, { basePath: '/base', version: '1.2.3' });

  const ok = (schema: object) => ({
    200: { description: 'The answer; a refused call is answered with HTTP 200 as well.', content: { 'application/json': { schema } } },
  });
  const shared = (name: string) => ({ $ref: `#/components/responses/${name}` });
  const shape = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const refused = { 401: shared('Unauthenticated'), 403: shared('Forbidden') };
  const large = { 413: shared('TooLarge') };
  const security = [{ signature: [], timestamp: [] }, { token: [] }, { session: [] }];
  const body = (schema: object, isRequired: boolean) => ({
    required: isRequired,
    content: { 'application/x-www-form-urlencoded': { schema }, 'multipart/form-data': { schema }, 'application/json': { schema } },
  });

  test('where the API is, and how to authenticate', () => {
    expect(head).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Adit management API', version: '1.2.3' },
      servers: [{ url: '/base' }],
      tags: [{ name: 'a' }],
    });
    expect(components.securitySchemes).toMatchObject({
      signature: { type: 'apiKey', in: 'query', name: 'auth_key' },
      timestamp: { type: 'apiKey', in: 'query', name: 'timestamp' },
      token: { type: 'http', scheme: 'bearer' },
      session: { type: 'apiKey', in: 'cookie', name: 'beegosessionID', description: expect.stringContaining('it is beegosessionID.') },
    });
    const atRoot = describeApi(rows, { basePath: '', version: '1.2.3' });
    expect(atRoot.servers).toEqual([{ url: '/' }]);
    expect(atRoot.components.securitySchemes.session.description).toContain('__Host-beegosessionID');
  });

  test('what is answered: to a write, for no record, to a refused call, and each shape', () => {
    const { Write, Failure, NoRecord, ...records } = components.schemas;
    expect({ Write, Failure, NoRecord }).toEqual({
      Write: {
        type: 'object',
        properties: { status: { const: 1 }, msg: { type: 'string' }, id: { type: 'integer', description: expect.any(String) } },
        required: ['status', 'msg'],
      },
      Failure: { type: 'object', properties: { status: { const: 0 }, msg: { type: 'string', description: expect.any(String) } }, required: ['status'] },
      NoRecord: { type: 'object', properties: { code: { const: 0 } }, required: ['code'] },
    });
    expect(Object.keys(records)).toEqual(Object.keys(shapes));
    expect(components.schemas).toMatchObject({ Time: { type: 'object', properties: { time: { type: 'integer' } }, required: ['time'] } });
    expect(components.schemas).not.toHaveProperty('Time.$schema');
    const failed = { description: expect.any(String), content: { 'application/json': { schema: shape('Failure') } } };
    expect(components.responses).toEqual({ Unauthenticated: failed, Forbidden: failed, TooMany: failed, TooLarge: failed });
  });

  test('each path and method, who may call it, what it takes and what it answers', () => {
    const values = {
      id: { type: 'integer', minimum: 0, description: "The host's id." },
      name: { type: 'string', description: 'What name is.' },
      note: { type: 'string', description: 'What note is.' },
      port: { type: 'integer', minimum: 0, maximum: 65_535, description: 'What port is.' },
      count: { type: 'integer', minimum: 0, description: 'What count is.' },
      on: { type: 'boolean', description: 'What on is.' },
      lines: { type: 'string', format: 'lines', examples: ['first\r\nsecond'], description: 'What lines is.' },
      until: { type: 'string', format: 'local-time', examples: ['2027-01-31 12:00:00', '2027-01-31'], description: 'What until is.' },
      mode: { type: 'string', enum: ['tcp', 'udp'], description: 'What mode is.' },
      owner: { type: 'integer', minimum: 0, description: 'The id of the user that owns it; blank or 0 = nobody. For administrators.' },
    };
    const adds = (name: string, more: object) => ({
      get: { operationId: `get_${name}_add`, summary: 'Adds.', tags: ['a'], ...more, security, parameters: [], responses: { ...ok({}), ...refused } },
      post: {
        operationId: `post_${name}_add`,
        summary: 'Adds.',
        tags: ['a'],
        ...more,
        security,
        requestBody: body({ type: 'object', properties: values, required: ['id', 'name'] }, true),
        responses: { ...ok({ oneOf: [{ allOf: [shape('Write'), { type: 'object', required: ['id'] }] }, shape('Failure')] }), ...refused, ...large },
      },
    });
    const one = ok({
      oneOf: [{ type: 'object', properties: { code: { const: 1 }, data: shape('Host') }, required: ['code', 'data'] }, shape('NoRecord')],
    });
    const of = { tags: ['a'], security };
    const { id: number } = values;
    expect(paths).toEqual({
      '/a/add/': adds('a', {}),
      '/b/add/': adds('b', { deprecated: true, description: 'Another name of /a/add/.' }),
      '/a/write/': {
        post: {
          ...of,
          operationId: 'post_a_write',
          summary: 'Writes.',
          requestBody: body({ type: 'object', properties: { note: { type: 'string', description: '' } } }, false),
          responses: {
            ...ok({ oneOf: [{ allOf: [shape('Write'), shape('AllowedAddresses')] }, shape('Failure')] }),
            ...refused,
            ...large,
            429: shared('TooMany'),
          },
        },
      },
      '/a/one/': {
        get: {
          ...of,
          operationId: 'get_a_one',
          summary: 'One.',
          parameters: [{ name: 'id', in: 'query', required: true, description: number.description, schema: { type: 'integer', minimum: 0 } }],
          responses: { ...one, ...refused },
        },
        post: {
          ...of,
          operationId: 'post_a_one',
          summary: 'One.',
          requestBody: body({ type: 'object', properties: { id: number }, required: ['id'] }, true),
          responses: { ...one, ...refused, ...large },
        },
      },
      '/a/list/': {
        get: {
          ...of,
          operationId: 'get_a_list',
          summary: 'Lists.',
          parameters: [{ name: 'note', in: 'query', required: false, description: '', schema: { type: 'string' } }],
          responses: {
            ...ok({
              type: 'object',
              properties: { rows: { type: 'array', items: shape('Tunnel') }, total: { type: 'integer', description: expect.any(String) } },
              required: ['rows', 'total'],
            }),
            ...refused,
          },
        },
      },
      '/a/time/': { get: { operationId: 'get_a_time', summary: 'Time.', tags: ['a'], security: [], parameters: [], responses: ok(shape('Time')) } },
      '/a/out/': {
        get: { operationId: 'get_a_out', summary: 'Out.', tags: ['a'], security: [], parameters: [], responses: { 302: { description: 'The login page.' } } },
      },
      '/a/raw/': { get: { ...of, operationId: 'get_a_raw', summary: 'Raw.', parameters: [], responses: { ...ok({}), ...refused } } },
    });
  });
});
