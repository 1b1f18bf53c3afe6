import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { globalRoutes } from '../../src/legacy/controllers/global.ts';
import { Problems } from '../../src/schema/values/problems.ts';
import { routeQuestion } from '../../src/schema/diagnosis/route.ts';
import { AditError } from '../../src/schema/errors.ts';
import { headersOf, hostChangeOf } from '../../src/schema/host/input.ts';
import { platformEntries } from '../../src/schema/platform-domain/input.ts';
import { anyText, cases, hold, parsed } from '../support/outside-input.ts';

test('headers: what is kept are lines that each are one header, and are kept as they are', () => {
  const line = fc.oneof(anyText, anyText.map((value) => `X-Name: ${value}`));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 3 }), (lines) => {
      const stored = parsed(() => headersOf('headers', lines), AditError);
      if (stored === undefined) return;
      hold(headersOf('headers', [stored]) === stored, 'is kept as it is');
      for (const one of stored.split('\n')) hold(one === '' || /^[^\s:]+[ \t]*:[^\r\n\0]*$/.test(one), 'is one header');
    }),
    cases,
  );
});

test('headers: of the invalid lines, the first is named by its number and by the text that it is in', () => {
  expect(() => headersOf('headers', ['A: b\n\nC: d', 'E: f\nbad', 'bad as well'])).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', params: expect.objectContaining({ field: 'headers.1', line: 4 }) }),
  );
});

test('the Host header for the target: what is kept is ASCII without blanks and control characters', () => {
  fc.assert(
    fc.property(anyText, (value) => {
      const stored = parsed(() => hostChangeOf('hostChange', value), AditError);
      hold(stored === undefined || /^[\x21-\x7e]*$/.test(stored), 'is ASCII without blanks');
    }),
    cases,
  );
});

test.each(['a\u010d\u010aX: y', 'a\u560d\u560aX:y', 'münchen.example', 'a\u{1f600}'])('the Host header %j is refused by the name of its field', (value) => {
  expect(() => hostChangeOf('hostChange', value)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT', message: expect.stringContaining('hostChange') }));
});

test('a diagnosis reads a path as the routing of requests does', () => {
  expect(routeQuestion('a.com', '/public/%2e%2E/admin?x', 'http').path).toBe('/admin?x');
  for (const path of ['/..', '/a/..%2fb', '/a/..;/b']) {
    expect(() => routeQuestion('a.com', path, 'http')).toThrow(expect.objectContaining({ code: 'DIAGNOSIS_REQUEST_INVALID' }));
  }
});

test('a diagnosis: what is asked about has a host, and a path with a slash before it', () => {
  fc.assert(
    fc.property(anyText, fc.oneof(anyText, anyText.map((path) => `/${path}`)), (host, path) => {
      const question = parsed(() => routeQuestion(host, path, 'http'), AditError);
      hold(question === undefined || (question.host !== '' && question.path.startsWith('/')), 'has host and path');
    }),
    cases,
  );
});

test('platform domains: entries have ids of their own and patterns that do not overlap', () => {
  const entry = fc.record({
    id: fc.option(fc.constantFrom('', 'a', ' a ', 'b', 'platform-47287a8f16ec75e6')),
    wildcard: fc.oneof(anyText, fc.constantFrom('*.example.com', '*.a.example.com', '*.B.com', '*.c.com.')),
    certificatePath: fc.option(fc.constantFrom('', '/c')),
    privateKeyPath: fc.option(fc.constantFrom('', '/k')),
  });
  const stored = [{ id: 'own', wildcard: '*.b.com', certFilePath: '', keyFilePath: '' }];
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 3 }), (given) => {
      const entries = parsed(() => platformEntries(new Problems(), given, stored), AditError);
      if (entries === undefined) return;
      hold(new Set(entries.map(({ id }) => id)).size === given.length, 'has ids of their own');
      const sent = entries.map((each) => ({ ...each, certificatePath: each.certFilePath || null, privateKeyPath: each.keyFilePath || null }));
      hold(JSON.stringify(platformEntries(new Problems(), sent, stored)) === JSON.stringify(entries), 'is kept as it is');
      for (const { id, certFilePath, keyFilePath } of entries) hold(id !== '' && (certFilePath === '') === (keyFilePath === ''), 'has both files or none');
    }),
    cases,
  );
});

test('the JSON of platform domains is read, or refused with a line that names the parameter', () => {
  const read = globalRoutes.find(({ path }) => path === '/global/save')?.parameters['platform_domains']?.read;
  if (read === undefined) throw new Error('the table has lost /global/save');
  const keys = fc.constantFrom('ID', 'id', 'Wildcard', 'WILDCARD', 'CertFilePath', 'keyfilepath', '__proto__', 'x');
  const value = fc.oneof(fc.string({ maxLength: 10 }), fc.constantFrom(null, 1, true, [], {}));
  const json = fc.oneof(fc.array(fc.dictionary(keys, value, { maxKeys: 4 }), { maxLength: 2 }).map((entries) => JSON.stringify(entries)), anyText);
  fc.assert(
    fc.property(json, (text) => {
      try {
        hold(Array.isArray(read(text, 'platform_domains')), 'is a list');
      } catch (error) {
        hold(error instanceof AditError && /^[^\n]*platform_domains[^\n]*$/.test(error.message), 'is refused with a line that names the parameter');
      }
    }),
    cases,
  );
  expect(() => read('{}', 'platform_domains')).toThrow(AditError);
});

test('the Host header for the target: blanks around it are removed, one inside is refused as such', () => {
  expect(hostChangeOf('hostChange', ' a.com:80 ')).toBe('a.com:80');
  expect(hostChangeOf('hostChange', undefined)).toBeUndefined();
  for (const value of ['a b', 'a\u0007b']) expect(() => hostChangeOf('hostChange', value)).toThrow('holds a blank or a control character');
  expect(() => hostChangeOf('hostChange', 'münchen.example')).toThrow('is not ASCII');
});
