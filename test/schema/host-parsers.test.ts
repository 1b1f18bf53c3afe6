import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { globalRoutes } from '../../src/legacy/controllers/global.ts';
import { hostRoutes } from '../../src/legacy/controllers/host.ts';
import { routeQuestion } from '../../src/schema/diagnosis/route.ts';
import { AditError } from '../../src/schema/errors.ts';
import { headersOf, hostChangeOf } from '../../src/schema/host/headers.ts';
import { platformEntries } from '../../src/schema/platform-domain/input.ts';

const runs = { numRuns: 10_000 };
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.stringMatching(/^[A-Za-z0-9:;=/?#%*.\r\n\t -]{0,80}$/),
  fc.constantFrom('', ' ', '\0', '\r\n', 'X: 1', 'X : 1\r\nY: 2', '/a?b=%41', '*.example.com', '-----BEGIN', 'x'.repeat(20_000)),
);

/** What `read` makes of a value; nothing else than the typed error may come out, and that within a second. */
function parsed<T>(read: () => T): T | undefined {
  const start = performance.now();
  try {
    return read();
  } catch (error) {
    expect(error).toBeInstanceOf(AditError);
    return undefined;
  } finally {
    expect(performance.now() - start).toBeLessThan(1000);
  }
}

test('headers: what is kept are lines that each are one header, and are kept as they are', () => {
  fc.assert(fc.property(fc.array(text, { maxLength: 4 }), (lines) => {
    const stored = parsed(() => headersOf('headers', lines));
    if (stored === undefined) return;
    expect(headersOf('headers', [stored])).toBe(stored);
    for (const line of stored.split('\n')) if (line !== '') expect(line).toMatch(/^[^\s:]+[ \t]*:[^\r\n\0]*$/);
  }), runs);
});

test('the Host header for the target: what is kept holds neither blank nor control character', () => {
  fc.assert(fc.property(text, (value) => {
    const stored = parsed(() => hostChangeOf('hostChange', value));
    // oxlint-disable-next-line no-control-regex
    if (stored !== undefined) expect(stored).not.toMatch(/[\s\0-\x1f\x7f]/);
  }), runs);
});

test('a diagnosis: what is asked about has a host, and a path with a slash before it', () => {
  fc.assert(fc.property(text, text, (host, path) => {
    const question = parsed(() => routeQuestion(host, path, 'http'));
    if (question !== undefined) expect([question.host === '', question.path.startsWith('/')]).toEqual([false, true]);
  }), runs);
});

test('platform domains: entries have ids of their own and patterns that do not overlap', () => {
  const entry = fc.record({
    id: fc.option(fc.constantFrom('', 'a', ' a ', 'b', 'platform-47287a8f16ec75e6')),
    wildcard: fc.oneof(text, fc.constantFrom('*.example.com', '*.a.example.com', '*.B.com', '*.c.com.')),
    certFilePath: fc.option(fc.constantFrom('', '/c')), keyFilePath: fc.option(fc.constantFrom('', '/k')),
  });
  const stored = [{ id: 'own', wildcard: '*.b.com', certFilePath: '', keyFilePath: '' }];
  fc.assert(fc.property(fc.array(entry, { maxLength: 4 }), (given) => {
    const entries = parsed(() => platformEntries(given, stored));
    if (entries === undefined) return;
    expect(new Set(entries.map(({ id }) => id)).size).toBe(given.length);
    expect(platformEntries(entries, stored)).toEqual(entries);
    for (const { id, certFilePath, keyFilePath } of entries) expect([id === '', (certFilePath === '') === (keyFilePath === '')]).toEqual([false, true]);
  }), runs);
});

test('the JSON of platform domains is read, or refused with a line that names the parameter', () => {
  const read = globalRoutes.find(({ path }) => path === '/global/save')?.parameters['platform_domains']?.read;
  if (read === undefined) throw new Error('the table has lost /global/save');
  const keys = fc.constantFrom('ID', 'id', 'Wildcard', 'WILDCARD', 'CertFilePath', 'keyfilepath', '__proto__', 'x');
  const json = fc.oneof(
    fc.array(fc.dictionary(keys, fc.oneof(fc.string(), fc.constant(null), fc.integer())), { maxLength: 3 }).map((value) => JSON.stringify(value)), fc.json(), text);
  fc.assert(fc.property(json, (value) => {
    const entries = parsed(() => read(value, 'platform_domains'));
    if (entries !== undefined) expect(entries).toBeInstanceOf(Array);
    try {
      read(value, 'platform_domains');
    } catch (error) {
      expect(error).toHaveProperty('message', expect.stringMatching(/^[^\n]*platform_domains[^\n]*$/));
    }
  }), runs);
});

test('every parameter of hosts takes any text, or refuses it', () => {
  const parameters = hostRoutes.flatMap((route) => Object.entries(route.parameters));
  fc.assert(fc.property(fc.constantFrom(...parameters), fc.option(text, { nil: undefined }), ([name, parameter], value) => {
    parsed(() => parameter.read(value, name));
  }), runs);
});
