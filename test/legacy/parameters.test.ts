import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { failureStatus, failureText, invalidParameter } from '../../src/legacy/errors.ts';
import { listing, sort } from '../../src/legacy/list-parameters.ts';
import {
  boolean,
  choice,
  forAdministrators,
  id,
  integer,
  keptText,
  list,
  owner,
  readParameters,
  reference,
  requiredBoolean,
  text,
  time,
  type Parameter,
} from '../../src/legacy/parameters.ts';
import { routes } from '../../src/legacy/routes.ts';
import { errorCodes } from '../../src/schema/error-codes.ts';
import { AditError } from '../../src/schema/errors.ts';
import { anyText, cases, hold } from '../support/outside-input.ts';

/** The value of a parameter called "x", or the text of its refusal. */
function read(parameter: Parameter<unknown>, value: string | undefined): unknown {
  try {
    return parameter.read(value, 'x');
  } catch (error) {
    if (error instanceof AditError) return `refused: ${failureText(error)}`;
    throw error;
  }
}

const keeping: Array<[string, Parameter<unknown>]> = [
  ['text', text()],
  ['keptText', keptText()],
  ['integer', integer()],
  ['boolean', boolean()],
  ['list', list()],
  ['time', time()],
  ['owner', owner()],
  ['choice', choice({ a: 1 })],
  ['reference', reference('client')],
];

test.each(keeping)('an absent %s is undefined, which keeps', (_, parameter) => {
  expect(read(parameter, undefined)).toBeUndefined();
});

test.each([
  ['text', text(), ''],
  ['integer', integer(), 0],
  ['boolean', boolean(), false],
  ['list', list(), []],
  ['time', time(), null],
  ['owner', owner(), null],
  ['keptText', keptText(), undefined],
  ['choice', choice({ a: 1 }), undefined],
  ['reference', reference('client'), undefined],
] as Array<[string, Parameter<unknown>, unknown]>)('a blank %s has its empty value', (_, parameter, empty) => {
  expect(read(parameter, '')).toEqual(empty);
});

describe('integer', () => {
  test.each([['5', 5], [' 10 ', 10], ['+7', 7], ['007', 7], ['  ', 0], ['-3', 0], ['2147483647', 2147483647]])('%j is %i', (value, expected) => {
    expect(read(integer(), value)).toBe(expected);
  });
  test.each(['abc', '1.5', '0x1', '1e3', '1 0', '2147483648', '99999999999999999999', 'true', '١'])('%j is refused', (value) => {
    expect(read(integer(), value)).toBe('refused: invalid x');
  });
  test('its own limit is the last value', () => {
    expect([read(integer(65535), '65535'), read(integer(65535), '65536')]).toEqual([65535, 'refused: invalid x']);
  });
  test('reads every number that a form can carry', () => {
    fc.assert(fc.property(fc.nat(2 ** 31 - 1), fc.constantFrom('', ' ', '+', '00'), (number, before) => {
      expect(read(integer(), `${before}${number}`)).toBe(number);
    }));
  });
});

describe('boolean', () => {
  test.each(['1', 't', 'T', 'TRUE', 'true', 'True', ' true '])('%j is true', (value) => expect(read(boolean(), value)).toBe(true));
  test.each(['0', 'f', 'F', 'FALSE', 'false', 'False', ' 0 ', ' '])('%j is false', (value) => expect(read(boolean(), value)).toBe(false));
  test.each(['on', 'yes', 'tRUE', '2', 'null'])('%j is refused', (value) => expect(read(boolean(), value)).toBe('refused: invalid x'));
  test('that a call is about has to be there', () => {
    expect([read(requiredBoolean(), undefined), read(requiredBoolean(), ''), read(requiredBoolean(), '1')]).toEqual(['refused: invalid x', false, true]);
  });
});

describe('id', () => {
  test.each([['1', 1], [' 12 ', 12], ['+3', 3]])('%j is %i', (value, expected) => expect(read(id('client'), value)).toBe(expected));
  test.each([undefined, '', '0', '-1', 'abc', '1.5', '2147483648'])('%j is a client that is not there', (value) => {
    expect(read(id('client'), value)).toBe('refused: client ID not found');
  });
  test.each(['0', ' ', '-0'])('reference %j names nothing', (value) => expect(read(reference('client'), value)).toBeUndefined());
  test.each(['x', '-1', '1.0'])('reference %j is a client that is not there', (value) => {
    expect(read(reference('client'), value)).toBe('refused: client ID not found');
  });
  test.each([['0', null], ['7', 7], ['-1', 'refused: invalid x'], ['x', 'refused: invalid x']])('owner %j is %j', (value, expected) => {
    expect(read(owner(), value)).toBe(expected);
  });
});

test('text is kept as it is: nothing is trimmed or escaped', () => {
  fc.assert(fc.property(fc.string(), (value) => {
    expect(read(text(), value)).toBe(value);
  }));
  expect(read(text(), ' <b>&"\' ')).toBe(' <b>&"\' ');
});

test('text that blank keeps treats spaces as blank', () => {
  expect([read(keptText(), '  '), read(keptText(), ' a ')]).toEqual([undefined, ' a ']);
});

test('a list has one item a line, however lines end, and no blank ones', () => {
  expect(read(list(), 'a:1\r\n\r\nb:2\n \n a:1 \n')).toEqual(['a:1', 'b:2', 'a:1']);
});

test('a time is handed on as the moment it names', () => {
  expect(read(time(), '2027-01-05 08:09')).toBe(new Date(2027, 0, 5, 8, 9).toISOString());
  expect(() => time().read('soon', 'expire_time')).toThrow(AditError);
});

test('a choice knows its texts and may give the error for others', () => {
  const mode = choice({ tcp: 'TCP', '': 'OFF' }, () => new AditError('UNSUPPORTED_MODE'));
  expect([' tcp ', '', 'TCP', 'constructor'].map((value) => read(mode, value)))
    .toEqual(['TCP', 'OFF', 'refused: unsupported tunnel mode', 'refused: unsupported tunnel mode']);
});

describe('list parameters', () => {
  test.each([[undefined, undefined], ['', undefined], ['x', undefined], ['1.5', undefined], ['0', 0], ['-5', 0], [' 10 ', 10], ['99999999999', 2147483647]])(
    'limit %j is %j',
    (value, expected) => expect(read(listing.limit, value)).toBe(expected),
  );
  test.each([[undefined, undefined], ['', undefined], ['0', undefined], ['x', undefined], ['3', 3], ['-3', -3]])(
    'filter %j is %j',
    (value, expected) => expect(read(listing.filter, value)).toBe(expected),
  );
  test.each([[undefined, 'ASC'], ['', 'ASC'], ['asc', 'ASC'], ['desc', 'DESC'], [' DESC ', 'DESC'], ['down', 'ASC']])(
    'order %j is %j',
    (value, expected) => expect(read(listing.order, value)).toBe(expected),
  );
  test('sort knows its names in their case only', () => {
    expect(['Id', 'id', 'constructor', undefined].map((name) => read(sort({ Id: 'ID' }), name))).toEqual(['ID', undefined, undefined, undefined]);
  });
  test('no text makes them fail, except the filters by an id, which must not widen the list', () => {
    const { strictFilter, owner: ofOwner, ...tolerant } = listing;
    fc.assert(
      fc.property(anyText, (value) => {
        for (const parameter of Object.values(tolerant)) parameter.read(value, 'x');
        const wanted: unknown[] = [undefined, 'refused: invalid x', Number(value.trim())];
        for (const strict of [strictFilter, ofOwner]) hold(wanted.includes(read(strict, value)), 'filters by a number, or is refused');
      }),
      cases,
    );
  });
});

test('parameters are read in their order, and unknown ones ignored', () => {
  const row = { id: id('client'), rate_limit: integer() };
  expect(readParameters(row, new Map([['rate_limit', '5'], ['id', '2'], ['else', 'x']]), true)).toEqual({ id: 2, rate_limit: 5 });
  expect(() => readParameters(row, new Map([['rate_limit', 'x']]), true)).toThrow('client ID not found');
});

test('what only administrators may send is not even read of others', () => {
  const row = { rate_limit: forAdministrators(integer()) };
  expect(() => readParameters(row, new Map([['rate_limit', 'x']]), true)).toThrow('invalid rate_limit');
  for (const value of ['x', '5']) expect(readParameters(row, new Map([['rate_limit', value]]), false)).toEqual({ rate_limit: undefined });
});

test('an error names the parameter of each field that the caller sent', () => {
  const client = {
    remark: 'remark',
    verifyKey: 'vkey',
    basicUser: 'u',
    basicPassword: 'p',
    compress: 'compress',
    encrypt: 'crypt',
    configAllowed: 'config_conn_allow',
    rateLimit: 'rate_limit',
    flowLimit: 'flow_limit',
    maxConnections: 'max_conn',
    maxTunnels: 'max_tunnel',
    ownerId: 'user_id',
    webUsername: 'web_username',
    webPassword: 'web_password',
    blocklist: 'blackiplist',
    allowlistEnabled: 'ipwhite',
    allowlistPassword: 'ipwhitepass',
    allowlist: 'ipwhitelist',
    expiresAt: 'expire_time',
  };
  const tunnel = {
    mode: 'type',
    port: 'port',
    clientId: 'client_id',
    remark: 'remark',
    serverIp: 'server_ip',
    targets: 'target',
    localProxy: 'local_proxy',
    password: 'password',
    localPath: 'local_path',
    stripPrefix: 'strip_pre',
    proxyProtocol: 'proto_version',
  };
  const host = {
    clientId: 'client_id',
    remark: 'remark',
    host: 'host',
    mode: 'domain_mode',
    platformDomainId: 'platform_domain_id',
    platformPrefix: 'platform_prefix',
    scheme: 'scheme',
    location: 'location',
    targets: 'target',
    localProxy: 'local_proxy',
    headers: 'header',
    hostChange: 'hostchange',
    privateKey: 'key_file_path',
    certificate: 'cert_file_path',
    autoHttps: 'AutoHttps',
  };
  const user = {
    username: 'username',
    password: 'password',
    remark: 'remark',
    maxTunnels: 'max_tunnel',
    maxClients: 'max_client',
    expiresAt: 'expire_time',
  };
  const settings = {
    blocklist: 'globalBlackIpList',
    serverUrl: 'serverUrl',
    platformDomains: 'platform_domains',
    certificatePath: 'certFilePath',
    privateKeyPath: 'keyFilePath',
  };
  expect(Object.fromEntries(routes.flatMap(({ path, fields }) => fields ? [[path, fields]] : []))).toEqual({
    '/client/add': client,
    '/client/edit': client,
    '/user/add': user,
    '/user/edit': user,
    '/user/changepassword': { ...user, newPassword: 'new_password' },
    '/index/add': tunnel,
    '/index/edit': tunnel,
    '/index/addhost': host,
    '/index/edithost': host,
    '/global/save': settings,
  });
  const failed = (field: string, reason: string) => failureText(new AditError('INVALID_INPUT', { field, reason }), {}, host);
  expect([failed('input.targets.1', 'no port'), failed('input.headers', ''), failed('other', 'x')]).toEqual([
    'invalid target: no port',
    'invalid header',
    'invalid other: x',
  ]);
  expect([failureText(invalidParameter('x')), failureText(invalidParameter('x', 'why'))]).toEqual(['invalid x', 'invalid x: why']);
  expect(failureText(new AditError('INVALID_INPUT', { field: 'expiresAt', reason: 'x' }), {}, user)).toBe('invalid expiration time');
});

test('an endpoint has texts of its own for codes, and for kinds of records that are not found', () => {
  const texts = { 'NOT_FOUND client': 'no client', NOT_FOUND: 'none', PORT_UNAVAILABLE: 'start error', HOST_EXISTS: (message: string) => `before ${message}` };
  const missing = (['client', 'tunnel', 'host', 'user'] as const).map((resource) => failureText(new AditError('NOT_FOUND', { resource }), texts));
  expect(missing).toEqual(['no client', 'none', 'none', 'none']);
  const own = Object.fromEntries((['client', 'tunnel', 'host', 'user'] as const).map((resource) => [`NOT_FOUND ${resource}`, resource]));
  expect(['client', 'tunnel', 'host', 'user'].map((resource) => failureText(new AditError('NOT_FOUND', { resource }), own))).toEqual([
    'client',
    'tunnel',
    'host',
    'user',
  ]);
  const exists = new AditError('HOST_EXISTS');
  expect([failureText(new AditError('PORT_UNAVAILABLE', { port: 1 }), texts), failureText(exists, texts)]).toEqual(['start error', `before ${exists.message}`]);
  expect(failureText(exists)).toBe(exists.message);
});

test('a refused call has the status 200, except for these codes', () => {
  const codes = Object.keys(errorCodes).filter((code): code is keyof typeof errorCodes => Object.hasOwn(errorCodes, code));
  expect(Object.fromEntries(codes.map((code) => [code, failureStatus(code)] as const).filter(([, status]) => status !== 200))).toEqual({
    FORBIDDEN: 403,
    FOREIGN_ORIGIN: 403,
    UNAUTHENTICATED: 401,
    TOO_MANY_OPERATIONS: 429,
    INTERNAL: 500,
    DATABASE_BUSY: 503,
    DATABASE_FULL: 503,
    DATABASE_READ_ONLY: 503,
    DATABASE_UNAVAILABLE: 503,
  });
});
