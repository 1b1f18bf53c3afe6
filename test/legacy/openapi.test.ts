import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from '@jest/globals';
import { testApis } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';
import { describeApi } from '../../src/legacy/openapi.ts';
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
    expect({ path, problems: shapes[answer].strict().safeParse(received).error?.issues ?? [] }).toEqual({ path, problems: [] });
  }
});

test('every endpoint that answers more than a text has its answer described', () => {
  expect(routes.filter(({ envelope, answer, redirects }) => envelope !== 'write' && !redirects && answer === undefined)).toEqual([]);
});
