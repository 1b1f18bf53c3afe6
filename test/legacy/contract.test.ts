import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Parameter } from '../../src/legacy/parameters.ts';
import type { Route } from '../../src/legacy/route.ts';
import { routes } from '../../src/legacy/routes.ts';
import { errorCodes } from '../../src/schema/error-codes.ts';
import { type Api, type CallOptions, type CallParameters, type Encoding, testApis } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';
import { endurance, isShort, sized } from '../support/endurance.ts';
import { clientContract } from './contract/client.ts';
import { hostContract } from './contract/host.ts';
import { otherContract } from './contract/other.ts';
import { openRecords, type Records } from './contract/records.ts';
import { type CallerName, type Contract, type Exchange, merged, type ParameterCase, type RowContract } from './contract/row.ts';
import { tunnelContract } from './contract/tunnel.ts';
import { userContract } from './contract/user.ts';

/*
 * Every row of the table of routes over real HTTP: each parameter and what it does, each text of a success and of a failure, whole
 * bodies compared. What isn't in the contract's files fails: a row, a parameter, a text.
 */

const contract: Contract = { ...otherContract, ...clientContract, ...userContract, ...tunnelContract, ...hostContract };
const apis = testApis(testDatabases('sqlite', { alone: true }));
const encodings: readonly Encoding[] = ['urlencoded', 'multipart', 'json', 'query'];
/**
 * All routes are found by the same look at the path, and read by the same parsers of bodies: in `npm test`, these are called by every spelling and in every encoding, the others by one of each and
 * by their aliases.
 */
const inEveryWay = new Set(sized(['/client/list', '/client/add', '/index/getonetunnel'], routes.map(({ path }) => path)));
/** A call takes some ms; a busy machine may take fifty times as long. */
const timeoutMs = 60_000;

let api: Api;
let records: Records;
/** The same API below a base path. */
let based: { api: Api; records: Records };
beforeAll(async () => {
  api = await apis.start({ allowLocalProxy: true });
  records = await openRecords(api);
  const below = await apis.start({ allowLocalProxy: true, basePath: '/nps' });
  based = { api: below, records: await openRecords(below) };
}, timeoutMs);
afterAll(() => records.close());

function contractOf(path: string): RowContract {
  const row = contract[path];
  if (row === undefined) throw new Error(`${path} has no contract`);
  return row;
}

function casesOf(cases: ParameterCase | readonly ParameterCase[]): readonly ParameterCase[] {
  return 'send' in cases ? [cases] : cases;
}

async function call(
  path: string,
  send: CallParameters,
  { as, on = api, ...options }: CallOptions & { readonly as?: CallerName; readonly on?: Api } = {},
): Promise<[number, unknown]> {
  const made = as === undefined ? on.signed(path, send, options) : on.call(path, send, { ...options, headers: records.as[as] });
  const { status, body } = await made;
  return [status, body];
}

async function exchange({ path, send, answer, as }: Exchange): Promise<void> {
  expect([path, send, await call(path, send, { as })]).toEqual([path, send, [200, answer]]);
}

async function begin({ given = [] }: RowContract): Promise<void> {
  await records.restore();
  for (const one of given) await exchange(one);
}

/** What a case is to leave of its record. */
function recordOf(row: RowContract, { record, makes }: ParameterCase): object | null | undefined {
  if (record !== undefined) return record;
  const from = row.from ?? row.record;
  return makes && from ? merged(from, makes) : row.record;
}

async function look(row: RowContract, id: number | undefined, record: object | null | undefined): Promise<void> {
  const { see } = row;
  if (see === undefined || id === undefined || record === undefined) return;
  expect(await call(see.path, see.send(id), {})).toEqual([200, see.answer(record, id)]);
}

test('every row of the table has its contract, every parameter its case, and nothing else has', () => {
  const sortedNames = (entries: readonly (readonly [string, readonly string[]])[]) =>
    Object.fromEntries(entries.map(([path, names]) => [path, names.toSorted()]));
  expect(sortedNames(Object.entries(contract).map(([path, { parameters }]) => [path, Object.keys(parameters)])))
    .toEqual(sortedNames(routes.map(({ path, parameters }) => [path, Object.keys(parameters)])));
});

test('every case of a parameter shows something that the call without it would not', () => {
  const idle = Object.entries(contract).flatMap(([path, row]) =>
    Object.entries(row.parameters).flatMap(([name, cases]) => {
      const proven = casesOf(cases).some((one) => {
        const without = JSON.stringify(row.from ?? row.record ?? null);
        const record = recordOf(row, one);
        const differs = record !== undefined && JSON.stringify(record) !== without;
        const answers = one.answer !== undefined && JSON.stringify(one.answer) !== JSON.stringify(row.answer);
        return differs || answers || one.stored !== undefined || one.after !== undefined || (one.id !== undefined && one.id !== row.id);
      });
      return proven ? [] : [`${path} ${name}`];
    })
  );
  expect(idle).toEqual([]);
});

/**
 * Errors that no call here ends with, or whose text is only a reason, and the suite that provokes each: who may call, what breaks, what GraphQL
 * itself refuses.
 */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ['UNAUTHENTICATED', 'http/graphql'],
  ['FOREIGN_ORIGIN', 'http/graphql'],
  ['BAD_REQUEST', 'http/graphql'],
  ['GRAPHQL_PARSE_FAILED', 'schema/problems'],
  ['GRAPHQL_VALIDATION_FAILED', 'schema/problems'],
  ['INTERNAL', 'schema/errors'],
  ['DATABASE_BUSY', 'store/busy-database'],
  ['DATABASE_FULL', 'store/busy-database'],
  ['DATABASE_READ_ONLY', 'schema/draining'],
  ['DATABASE_UNAVAILABLE', 'store/busy-database'],
  ['SEARCH_TOO_BROAD', 'schema/searches'],
  ['OPERATION_TOO_COSTLY', 'http/costly-operations'],
  ['RESULT_TOO_LARGE', 'http/costly-operations'],
  ['TOO_MANY_OPERATIONS', 'http/costly-operations'],
  ['SUBSCRIPTION_LIMIT', 'http/subscriptions'],
  ['SUBSCRIBER_TOO_SLOW', 'schema/event-queue'],
  ['TOKEN_LIMIT', 'http/tokens'],
  ['AGENTS_OWN', 'e2e/config-file'],
  ['ENROLMENT_LIMIT', 'schema/enrolment'],
  ['ENROLMENT_REFUSED', 'schema/enrolment'],
  ['PLATFORM_DOMAIN_INVALID', 'schema/global'],
  ['PLATFORM_DOMAIN_IN_USE', 'schema/global'],
  ['DIAGNOSIS_REQUEST_INVALID', 'schema/diagnosis'],
  ['CONFLICT', 'schema/versions'],
  ['ACME_NOT_FAILED', 'schema/certificate-check'],
  ['ACME_RETRY_LATER', 'schema/certificate-check'],
  ['CERTIFICATE_UNPAIRED', 'schema/hosts'],
  ['SERVER_URL_INVALID', 'schema/global'],
  ['NODE_NOT_RUNNING', 'e2e/nodes'],
  ['NODE_ALONE', 'e2e/nodes'],
  ['NODE_DRAINING', 'e2e/rolling-restart'],
]);
/** A source has a client: both are read in one transaction. */
const races: ReadonlySet<string> = new Set(['/index/copy NOT_FOUND client']);
/** A port that is allowed no more: test/legacy/tunnel.test.ts. */
const otherSuites: ReadonlySet<string> = new Set(['/index/start PORT_UNAVAILABLE']);
const seenTexts = Object.values(contract).flatMap(({ failures, unknown = {} }) => [...failures.map(([msg]) => String(msg)), ...Object.values(unknown)]);

test('every error of the schema is provoked by some call, and every text of a row by that row', () => {
  const patternOf = (message: string) => new RegExp(message.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*'));
  const silent = Object.entries(errorCodes).filter(([code, { message }]) => !elsewhere.has(code) && !seenTexts.some((text) => patternOf(message).test(text)))
    .map(([code]) => code);
  expect(silent).toEqual([]);
  const vague = Object.entries(errorCodes).filter(([code, { message }]) => message === '{reason}' && !elsewhere.has(code)).map(([code]) => code);
  expect(vague).toEqual([]);
  const unproven = Object.entries(errorCodes).filter(([code, { message }]) => {
    const suite = elsewhere.get(code);
    if (suite === undefined) return false;
    const forms = ['test', 'slow'].map((form) => new URL(`../${suite}.${form}.ts`, import.meta.url)).filter((url) => existsSync(url));
    const text = forms.map((url) => readFileSync(url, 'utf8')).join('\n');
    return !text.includes(code) && (message === '{reason}' || !patternOf(message).test(text));
  });
  expect(unproven).toEqual([]);
  const own = routes.flatMap(({ path, texts = {} }) =>
    Object.entries(texts).flatMap(([key, text]) => {
      const { failures, unknown = {} } = contractOf(path);
      const code = key.replace(/ .*/, '');
      const message = Object.entries(errorCodes).find(([name]) => name === code)?.[1].message ?? '';
      const wanted = patternOf(typeof text === 'function' ? text(key === 'NOT_FOUND' ? 'token ID not found' : message) : text);
      const provoked = [...failures.map(([msg]) => String(msg)), ...Object.values(unknown)].some((msg) => wanted.test(msg));
      return provoked || elsewhere.has(code) || races.has(`${path} ${key}`) || otherSuites.has(`${path} ${key}`) ? [] : [`${path} ${key}`];
    })
  );
  expect(own).toEqual([]);
});

describe.each(routes.filter(({ path }) => path in contract).map((route) => [route.path, route] as const))('%s', (path, route) => {
  const row = contractOf(path);
  const status = row.status ?? 200;
  const method = route.methods.includes('POST') ? 'POST' : 'GET';
  const camel = path.replace(/(?<=\/)[a-z]/g, (letter) => letter.toUpperCase());

  test('answers at each spelling of its path, in each encoding, by each of its methods, and below a base path', async () => {
    const ways: readonly (readonly [string, CallOptions])[] = [
      ...[
        ...inEveryWay.has(path) ? [path, `${path}/x/y`, camel, `/${path}/`, `${path.replaceAll('/', '//')}///`, `${path}/`] : [],
        `${camel}/`,
        ...route.aliases.map((alias) => `${alias}/`),
      ].map((spelling) => [spelling, {}] as const),
      ...(inEveryWay.has(path) ? encodings : oneOf(encodings, routes.indexOf(route))).map((encoding) => [path, { encoding }] as const),
      ...(route.methods.includes('GET') && !route.panel
        ? [[path, { method: 'GET', encoding: 'query' }], [`${path}/`, { method: 'GET', encoding: 'query' }]] as const
        : []),
    ];
    for (const [spelling, options] of ways) {
      await begin(row);
      expect([spelling, options, await call(spelling, row.send, { method, ...options })]).toEqual([spelling, options, [status, row.answer]]);
      if (options.encoding !== undefined) await look(row, row.id, row.record);
    }
    for (const one of row.after ?? []) await exchange(one);
    await based.records.restore();
    for (const { path: first, send } of row.given ?? []) await call(first, send, { on: based.api });
    expect(await call(`${path}/`, row.send, { method, on: based.api })).toEqual([status, row.answer]);
    expect((await fetch(based.api.url.replace('/nps', path), { method })).status).toBe(404);
  }, timeoutMs);

  const cases = Object.entries(row.parameters).flatMap(([name, some]) => casesOf(some).map((one, index) => ({ name, one, index })));
  for (const [turn, { name, one, index }] of cases.entries()) {
    // In `npm test`, the first case of each parameter.
    if (isShort && index > 0) continue;
    test(`${name} does what it says${index === 0 ? '' : ` (${index + 1})`}`, async () => {
      await begin(row);
      // A body wins over the query string, and so every parameter is sent there too, with another value.
      const encoding = encodings[turn % encodings.length] ?? 'urlencoded';
      const decoys = new URLSearchParams(Object.keys(one.send).filter((sent) => route.parameters[sent]?.once !== true).map((sent) => [sent, 'decoy']))
        .toString();
      const asked = encoding === 'query' ? path : `${path}?${decoys}`;
      const id = one.id ?? row.id;
      expect(await call(asked, one.send, { method, encoding, as: one.as })).toEqual([status, one.answer ?? row.answer]);
      if (one.answer === undefined) await look(row, id, recordOf(row, one));
      if (one.stored !== undefined) expect(records.differences()[`${row.table} ${id}`]).toMatchObject(one.stored);
      for (const next of one.after ?? []) await exchange(next);
    }, timeoutMs);
  }

  test('says why it fails, and has changed nothing then', async () => {
    await begin(row);
    const before = records.differences();
    for (const [msg, send, refused = 200, as] of row.failures) {
      const answer = { status: 0, msg: typeof msg === 'string' ? msg : expect.stringMatching(msg) };
      expect([send, await call(path, send, { as })]).toEqual([send, [refused, answer]]);
    }
    for (const [send, answer] of malformed(route, row)) expect([send, await call(path, send)]).toEqual([send, [200, answer]]);
    expect(records.differences()).toEqual(before);
  }, timeoutMs);

  test('refuses every other method, and does nothing by it', async () => {
    await begin(row);
    const before = records.differences();
    for (
      const other of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'].filter((one) => !route.methods.some((own) => own === (one === 'HEAD' ? 'GET' : one)))
    ) {
      const { status: refused, body, headers } = await api.signed(path, row.send, { method: other, encoding: 'query' });
      expect([other, refused, body]).toEqual([other, 405, other === 'HEAD' ? '' : { status: 0, msg: 'method not allowed' }]);
      expect(headers.get('allow')).toBe(route.methods.join(', '));
    }
    expect(records.differences()).toEqual(before);
  }, timeoutMs);
});

/** In `npm test` one of some that show the same, and for the next call the next one. */
function oneOf<T>(some: readonly T[], at: number): readonly T[] {
  return endurance ? some : some.filter((_one, n) => n === at % some.length);
}

/** Calls with a parameter that isn't what it has to be, and what they are answered with (contract D4, D5, D31, D32). */
function malformed(route: Route, row: RowContract): readonly (readonly [CallParameters, unknown])[] {
  return Object.entries(route.parameters).flatMap(([name, parameter], n) => {
    if (route.access === 'anyone') return [];
    const at = routes.indexOf(route) + n;
    const answered = (values: readonly (string | number)[], answer: unknown) =>
      values.map((value): readonly [CallParameters, unknown] => [{ ...row.send, [name]: value }, answer]);
    if (route.envelope === 'single') return answered(['99', ...oneOf(['abc', '1.5', '-1', '99999999999', '', '0'], at)], { code: 0 });
    // A filter that can't be read counts as absent, one by an id is refused: that stands among the failures.
    if (route.envelope === 'list') {
      return name === 'type' || parameter.kind === 'id' || parameter.kind === 'text' || name.endsWith('client_id')
        ? []
        : answered(oneOf(['abc', '', '1.5'], at), row.answer);
    }
    if (row.ownForm?.includes(name)) return [];
    return forms(name, parameter, row, at).map(([value, msg]) => [{ ...row.send, [name]: value }, { status: 0, msg }] as const);
  });
}

/** Values that a parameter of a write refuses, each with the text. */
function forms(name: string, parameter: Parameter<unknown>, row: RowContract, at: number): readonly (readonly [string, string])[] {
  switch (parameter.kind) {
    case 'id': {
      const msg = row.unknown?.[name];
      if (msg === undefined) return [];
      const noId = ['abc', '1.5', '-1', '99999999999'];
      return ['99', ...oneOf(noId, at), ...parameter.required ? oneOf(['', '0', ' '], at) : []].map((value) => [value, msg]);
    }
    case 'integer':
      return [String((parameter.maximum ?? 0) + 1), ...oneOf(['abc', '1.5', '0x10', '1e3'], at)].map((value) => [value, `invalid ${name}`]);
    case 'boolean':
      return oneOf(['yes', 'on', '2', 'tRUE'], at).map((value) => [value, `invalid ${name}`]);
    case 'time':
      return oneOf(['tomorrow', '2027-02-30', '2027-13-01', '27-01-01'], at).map((value) => [value, 'invalid expiration time']);
    case 'choice':
      return [['nonsense', `invalid ${name}`]];
    case 'text':
    case 'list': {
      const most = row.most?.[name];
      if (most === undefined) throw new Error(`${name} has neither a length nor a form of its own`);
      return [['x'.repeat(most + 1), `invalid ${name}: longer than ${most} characters`]];
    }
  }
}
