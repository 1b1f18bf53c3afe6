import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HostTable, type HostRule } from '../../src/rules/host-route.ts';
import { octets } from '../../src/rules/octets.ts';
import { resolvedPath, routedLocation, routedPath } from '../../src/rules/request-path.ts';
import { anyText, cases, hold } from '../support/outside-input.ts';

describe('the path to pass on', () => {
  test.each([
    ['/', '/'],
    ['/a', '/a'],
    ['/a/', '/a/'],
    ['/a/b?c=/../d', '/a/b?c=/../d'],
    ['/a/../b', '/b'],
    ['/a/./b', '/a/b'],
    ['/a/..', '/'],
    ['/a/../', '/'],
    ['/a/.', '/a/'],
    ['/a/b/..', '/a/'],
    ['/%2e/a', '/a'],
    ['/a/%2E%2e/b', '/b'],
    ['/a/.%2e/b', '/b'],
    ['/a//../b', '/b'],
    ['/a//b', '/a//b'],
    ['/a//', '/a//'],
    ['//', '/'],
    ['//a', '/a'],
    ['///a//b', '/a//b'],
    ['/.//a', '/a'],
    ['/a/..//b', '/b'],
    ['/\\a', '/a'],
    ['/a\\..\\b', '/b'],
    ['/...', '/...'],
    ['/..a/.b/c..', '/..a/.b/c..'],
    ['/a%2fb', '/a%2fb'],
    ['/a;x/b', '/a;x/b'],
    ['/%61%zz%', '/%61%zz%'],
    ['/\xe4?\\..', '/\xe4?\\..'],
    ['*', '*'],
    ['/.well-known/x', '/.well-known/x'],
  ])('of %j is %j', (target, path) => expect(resolvedPath(target)).toBe(path));

  test.each([
    '/..',
    '/a/../..',
    '/%2e%2e',
    '/../a',
    '/a//../..',
    '/a///../..',
    '/..%2fa',
    '/a/..%2f',
    '/a%2f..',
    '/a%2f%2e%2e%2fb',
    '/a/..;/b',
    '/a/.;/b',
    '/a/..;x',
    '/a/%2e%2e;x/b',
    '/a/..%3bx/b',
    '/a%5c..',
    '/a/..%5cb',
    '/a/..%09',
    '/;x%5ca',
    '/;x/a',
    '/a/%3b/b',
    '/a%2f;b',
    '/a;x%2fb',
    '/a%00',
    '/#',
    '/a#/../b',
  ])('of %j is none', (target) => {
    expect(resolvedPath(target)).toBeUndefined();
  });
});

test.each([
  ['/', '/'],
  ['/a/', '/a'],
  ['/a?b', '/a'],
  ['/%61', '/a'],
  ['/a%2fb', '/a/b'],
  ['//a//b/', '/a/b'],
  ['/a;x/b;y', '/a/b'],
  ['/;x/b', '/b'],
  ['/a%5cb', '/a/b'],
  ['/a%3fb', '/a?b'],
  ['/%zz', '/%zz'],
  ['/%2561', '/%61'],
  ['*', '*'],
  ['/caf%C3%a9', '/caf\xc3\xa9'],
])('the path %j is routed as %j', (path, routed) => expect(routedPath(path)).toBe(routed));

test('a location is routed as the paths that are sent for it', () => {
  expect(routedLocation('/café')).toBe(routedPath('/caf%c3%a9'));
  expect(routedLocation('//a/./b/../c%2fd')).toBe('/a/c/d');
  expect(octets('é')).toBe('\xc3\xa9');
});

/** Paths out of what programs read in different ways. */
const path = fc.array(
  fc.constantFrom(
    '/',
    '/',
    '.',
    '..',
    '%2e',
    '%2E',
    '%2f',
    '%5C',
    '\\',
    ';',
    ';x',
    'admin',
    'public',
    '%61dmin',
    'a',
    '%00',
    '%',
    '//',
    '..;',
    '?',
    '#',
    '%3b',
    '%20',
    '%252e',
    'ä',
  ),
  { maxLength: 12 },
).map((parts) => `/${parts.join('')}`);

/** What programs can make of a path: each reading is a list of segments. */
function readings(sent: string): string[][] {
  const [raw = ''] = sent.split('?');
  const decode = (text: string): string => text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const resolve = (text: string, slash: RegExp): string[] =>
    text.split(slash).reduce<string[]>(
      (kept, segment) => segment === '..' ? kept.slice(0, -1) : segment === '.' || segment === '' ? kept : [...kept, segment],
      [],
    );
  const strip = (text: string): string => text.replaceAll(/;[^/]*/g, '');
  const byUrl = new URL(raw, 'http://h');
  return [
    resolve(raw, /\//),
    resolve(decode(raw), /\//),
    resolve(decode(raw), /[/\\]/),
    resolve(decode(strip(raw)), /\//),
    resolve(strip(decode(raw)), /[/\\]/),
    resolve(decode(byUrl.pathname), /\//),
    resolve(byUrl.hostname === 'h' ? raw : byUrl.pathname, /\//),
    decode(raw).split('/').filter((segment) => segment !== ''),
  ];
}

const rule = (id: number, location: string): HostRule => ({ id, host: 'a.com', location, scheme: 'all', enabled: true, namedByAdmin: false });

describe('any path', () => {
  test('is refused, or passes on without dot segments in any reading, and is then the same again', () => {
    fc.assert(
      fc.property(fc.oneof(path, anyText.map((text) => `/${text.replaceAll(/[^\x21-\xff]/g, '')}`)), (sent) => {
        const passed = resolvedPath(sent);
        if (passed === undefined) return;
        hold(resolvedPath(passed) === passed, 'is the same again');
        hold(/^\/(?![/\\])/.test(passed), 'begins with one slash');
        const query = sent.indexOf('?');
        hold(passed.endsWith(query < 0 ? '' : sent.slice(query)), 'keeps its query');
        hold(!readings(passed).flat().some((segment) => /^\.\.?$/.test(segment)), 'has no dot segment');
        hold(!/(^|\/)\.\.?(;|\/|\?|$)/.test(passed.split('?', 1)[0] ?? ''), 'shows no dot segment');
      }),
      cases,
    );
  });

  test('goes by a rule for a location exactly when a program behind it could find that location', () => {
    const table = new HostTable([rule(1, '/'), rule(2, '/admin')]);
    fc.assert(
      fc.property(path, (sent) => {
        const passed = resolvedPath(sent);
        if (passed === undefined) return;
        const { id } = table.match({ host: 'a.com', path: passed, scheme: 'http' }) ?? { id: 0 };
        if (id === 1) hold(!readings(passed).some(([first]) => first === 'admin'), 'does not reach /admin by the rule for everything');
      }),
      cases,
    );
  });

  test('that goes by a rule for a location never leaves it', () => {
    const table = new HostTable([rule(1, '/public')]);
    fc.assert(
      fc.property(path.map((rest) => `/public${rest}`), (sent) => {
        const passed = resolvedPath(sent);
        if (passed === undefined || !table.match({ host: 'a.com', path: passed, scheme: 'http' })) return;
        // What decodes nothing has odd names, but none that lead elsewhere.
        for (const [first = ''] of readings(passed)) hold(first.split(/[;/\\]|%2f|%5c|%3b/i).find((part) => part !== '') === 'public', 'stays below /public');
      }),
      cases,
    );
  });
});
