import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { covers, hostLocation } from '../../src/rules/host-location.ts';
import { hostOfUrl, hostPattern, requestedHost } from '../../src/rules/host-name.ts';
import { isBelow, patternsOverlap, routesOverlap, sameRoute } from '../../src/rules/host-overlap.ts';
import { HostTable, patternsFor, routeFault, type HostRequest, type HostRule } from '../../src/rules/host-route.ts';
import { OwnNames } from '../../src/rules/own-names.ts';
import { anyText, cases, hold } from '../support/outside-input.ts';

describe('a host pattern', () => {
  test.each([
    ['App.Example.com.', 'app.example.com'],
    ['*.Example.com', '*.example.com'],
    ['localhost', 'localhost'],
    [' a_b.example.com ', 'a_b.example.com'],
    ['127.0.0.1', '127.0.0.1'],
    ['[::1]', '::1'],
    ['2001:DB8::0:1', '2001:db8::1'],
    ['*.com', '*.com'],
    ['münchen.de', 'xn--mnchen-3ya.de'],
    ['*.münchen.de', '*.xn--mnchen-3ya.de'],
  ])('%s is kept as %s', (text, pattern) => expect(hostPattern(text)).toBe(pattern));

  test.each([
    '',
    ' ',
    '*',
    '*.',
    '.',
    'a..b',
    '.a',
    'a.*.com',
    '*a.com',
    'a*.com',
    '*.*.com',
    'a.com:80',
    'http://a.com',
    'a.com/x',
    'a b',
    '-a.com',
    'a-.com',
    '1.2.3',
    '256.1.1.1',
    'user@a.com',
    'a.com\0',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(126)}aa`,
    '*.1.2.3.4',
    'fe80::1%eth0',
    '[1.2.3.4]',
    '[a.com]',
    '*.[a.com]',
    '[[::1]]',
    '[::1].',
    'a.com..',
  ])('%j is none', (text) => expect(hostPattern(text)).toBeUndefined());

  test('of any text is one that is its own pattern, or none', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const pattern = hostPattern(text);
        hold(pattern === undefined || hostPattern(pattern) === pattern, 'is its own pattern');
      }),
      cases,
    );
  });
});

describe('the host of a request', () => {
  test.each([
    ['App.example.com:8000', 'app.example.com'],
    ['app.example.com.', 'app.example.com'],
    ['a.com:', 'a.com'],
    ['[::1]:80', '::1'],
    ['::1', '::1'],
    ['10.0.0.1:80', '10.0.0.1'],
    ['', undefined],
    ['*.a.com', undefined],
    ['a.com:80:80', undefined],
    ['a.com:x', undefined],
    ['[::1', undefined],
    ['[a.com]', undefined],
    ['[a.com]:80', undefined],
    ['[fe80::1%eth0]:80', undefined],
    ['http://a.com', undefined],
  ])('%j is %s', (header, host) => expect(requestedHost(header)).toBe(host));

  test.each([
    ['https://nps.example.com', 'nps.example.com'],
    ['HTTPS://u:p@Nps.Example.com:8443/a?b#c', 'nps.example.com'],
    ['203.0.113.5', '203.0.113.5'],
    ['203.0.113.5:8080/x', '203.0.113.5'],
    ['https://[2001:db8::1]:8443/', '2001:db8::1'],
    ['', ''],
    ['https://', ''],
    ['not a host', ''],
    ['/path', ''],
  ])('of the URL %j is %j', (url, host) => expect(hostOfUrl(url)).toBe(host));

  test('of any text is a pattern without wildcard, or none', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const host = requestedHost(text);
        hold(host === undefined || (hostPattern(host) === host && !host.includes('*')), 'is a pattern without wildcard');
      }),
      cases,
    );
  });
});

describe('a location', () => {
  test.each([['', '/'], ['/', '/'], ['///', '/'], ['api', '/api'], ['/api/', '/api'], [' /api/v1// ', '/api/v1'], ['//a', '//a']])(
    '%j is kept as %s',
    (text, location) => {
      expect(hostLocation(text)).toBe(location);
    },
  );
  test.each(['/a b', '/a?b', '/a#b', '/a\r\nb', '/\0'])('%j is none', (text) => expect(hostLocation(text)).toBeUndefined());
  test('covers whole segments', () => {
    for (const path of ['/api', '/api/', '/api/x']) expect(covers('/api', path)).toBe(true);
    for (const path of ['/apiary', '/ap', '/', '/x/api', '/xyz/api']) expect(covers('/api', path)).toBe(false);
  });
  test('of any text is one that is its own location, or none', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const location = hostLocation(text);
        hold(location === undefined || hostLocation(location) === location, 'is its own location');
      }),
      cases,
    );
  });
});

let nextId = 0;
const rule = (host: string, rest: Partial<HostRule> = {}): HostRule => ({
  id: ++nextId,
  host,
  location: '/',
  scheme: 'all',
  enabled: true,
  namedByAdmin: false,
  ...rest,
});
const request = (host: string, path = '/', scheme: 'http' | 'https' = 'http'): HostRequest => ({ host, path, scheme });

describe('routing', () => {
  test('prefers exact hosts, longer suffixes, longer locations, lower ids, in this order', () => {
    const exact = rule('a.b.example.com');
    const api = rule('a.b.example.com', { location: '/api' });
    const apiTwin = rule('a.b.example.com', { location: '/api' });
    const long = rule('*.b.example.com', { location: '/api/v1' });
    const short = rule('*.example.com');
    const table = new HostTable([short, long, apiTwin, api, exact]);
    expect(table.match(request('a.b.example.com', '/api/v1/x'))).toBe(api);
    expect(table.match(request('a.b.example.com', '/apiary'))).toBe(exact);
    expect(table.match(request('x.b.example.com', '/api/v1?q'))).toBe(long);
    expect(table.match(request('x.b.example.com', '/api'))).toBe(short);
    expect(table.match(request('deep.er.x.example.com'))).toBe(short);
    expect(table.match(request('example.com'))).toBeUndefined();
    table.delete(api.id);
    expect(table.match(request('a.b.example.com', '/api/v1/x'))).toBe(apiTwin);
  });

  test('finds a short location of a path that is longer than the longest one, with and without more slashes', () => {
    const [short, long] = [rule('a.com', { location: '/a' }), rule('a.com', { location: '/b/cdef' })];
    const table = new HostTable([short, long]);
    for (const path of ['/a', '/a/', '/a/xxxxxxxxxxxx', '/a/xxxxxxxxxxxx/y', '/a/x/yyyyyyyyyyyy']) {
      expect([path, table.match(request('a.com', path))]).toEqual([path, short]);
    }
    for (const path of ['/b/cdef', '/b/cdef/g']) expect([path, table.match(request('a.com', path))]).toEqual([path, long]);
    for (const path of ['/b', '/b/cdefg', '/ab', '/']) expect([path, table.match(request('a.com', path))]).toEqual([path, undefined]);
  });

  test('forgets a rule that is deleted, however its location is written', () => {
    for (const location of ['/a%62', '/a;x', '/a%2Fb', '/a']) {
      const table = new HostTable([rule('a.com', { location, id: 1 })]);
      const matches = () => table.match(request('a.com', location))?.id;
      expect([location, matches(), table.delete(1), matches(), table.knows('a.com')]).toEqual([location, 1, undefined, undefined, false]);
    }
  });

  test('passes over stopped rules and those for the other scheme, down to a wildcard', () => {
    const table = new HostTable<HostRule>();
    const stopped = rule('a.com', { enabled: false });
    const https = rule('a.com', { scheme: 'https' });
    const wild = rule('*.com', { scheme: 'http' });
    for (const one of [stopped, https, wild]) table.set(one);
    expect(table.match(request('a.com'))).toBe(wild);
    expect(table.match(request('a.com', '/', 'https'))).toBe(https);
    table.set({ ...stopped, enabled: true });
    expect(table.match(request('a.com'))?.id).toBe(stopped.id);
  });

  test('reports why a request matches no rule', () => {
    const fault = (rules: readonly HostRule[], own = new OwnNames()) => routeFault(rules, request('a.com'), own);
    expect(fault([])).toBe('host');
    expect(fault([rule('a.com', { enabled: false })])).toBe('stopped');
    expect(fault([rule('a.com', { enabled: false }), rule('a.com', { scheme: 'https' })])).toBe('scheme');
    expect(fault([rule('a.com', { scheme: 'https' }), rule('a.com', { location: '/x' })])).toBe('path');
    expect(fault([rule('a.com')], new OwnNames(['a.com']))).toBe('ownName');
    expect(fault([rule('a.com'), rule('a.com', { namedByAdmin: true, enabled: false })], new OwnNames(['a.com']))).toBe('stopped');
  });

  test("requests for one of the server's own names only match rules that an administrator named", () => {
    const [user, wildcard] = [rule('panel.a.com', { location: '/x' }), rule('*.a.com')];
    const table = new HostTable([user, wildcard, rule('192.0.2.1')], new OwnNames(['https://Panel.A.com:8080/adit']));
    expect(table.match(request('panel.a.com', '/x'))).toBeUndefined();
    expect(table.named('panel.a.com', 'https')).toEqual([]);
    expect(table.match(request('192.0.2.1'))).toBeUndefined();
    expect(table.match(request('other.a.com'))).toBe(wildcard);
    const admins = rule('*.a.com', { namedByAdmin: true });
    table.set(admins);
    expect(table.match(request('panel.a.com', '/x'))).toBe(admins);
    expect(table.named('panel.a.com', 'https')).toEqual([admins]);
    table.ownNames = new OwnNames();
    expect(table.match(request('panel.a.com', '/x'))).toBe(user);
  });

  test('an address has no suffixes', () => {
    expect(patternsFor('1.2.3.4')).toEqual(['1.2.3.4']);
    expect(patternsFor('a.b.c')).toEqual(['a.b.c', '*.b.c', '*.c']);
  });

  const label = fc.constantFrom('a', 'b', 'c');
  const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
  const location = fc.array(fc.constantFrom('x', 'xy', 'y'), { maxLength: 3 }).map((parts) => `/${parts.join('/')}`);
  const rules = fc.array(
    fc.record({
      host: fc.oneof(name, name.map((suffix) => `*.${suffix}`)),
      location,
      enabled: fc.boolean(),
      scheme: fc.constantFrom('all' as const, 'http' as const, 'https' as const),
    }),
    { maxLength: 12 },
  ).map((list) => list.map((one, index): HostRule => ({ ...one, id: index + 1, namedByAdmin: false })));
  const requests = fc.record({
    host: name,
    path: fc.tuple(location, fc.constantFrom('', '/', '?q=/x')).map((parts) => parts.join('')),
    scheme: fc.constantFrom('http' as const, 'https' as const),
  });

  /** The rule of the contract, said slowly. */
  function slowly(all: readonly HostRule[], { host, path, scheme }: HostRequest): HostRule | undefined {
    const rank = (one: HostRule) => one.host === host ? 1000 : one.host.length;
    return all
      .filter((one) => one.enabled && (one.scheme === 'all' || one.scheme === scheme) && covers(one.location, path.split('?', 1)[0] ?? ''))
      .filter((one) => one.host === host || (one.host.startsWith('*.') && host.endsWith(one.host.slice(1)) && host.length > one.host.length - 1))
      .toSorted((a, b) => rank(b) - rank(a) || b.location.length - a.location.length || a.id - b.id)[0];
  }

  test('agrees with a naive implementation, whatever the order of changes', () => {
    fc.assert(
      fc.property(rules, requests, fc.array(fc.nat(11)), (all, asked, removed) => {
        const table = new HostTable<HostRule>([...all].toReversed());
        for (const index of removed) table.delete(index + 1);
        const left = all.filter(({ id }) => !removed.includes(id - 1));
        hold(table.match(asked) === slowly(left, asked), 'finds the rule that is said slowly');
      }),
      cases,
    );
  });

  test('the rule for HTTPS is the best rule of the pattern that serves a name, whatever changes between lookups', () => {
    const rank = ({ id }: HostRule): number => id * 7 % 3;
    fc.assert(
      fc.property(rules, name, fc.array(fc.nat(11)), fc.boolean(), (all, host, removed, own) => {
        const table = new HostTable<HostRule>(all.map((one) => ({ ...one, namedByAdmin: one.id % 2 === 0 })), new OwnNames(own ? [host] : []), rank);
        for (const index of [undefined, ...removed]) {
          if (index !== undefined) table.delete(index + 1);
          if (index === 3) table.set(rule(host, { id: 100 }));
          const serving = table.named(host, 'https');
          const least = Math.min(...serving.map(rank));
          hold(table.secure(host) === serving.find((one) => rank(one) === least), 'is the one that a scan finds');
        }
      }),
      cases,
    );
  });

  test('the rule for HTTPS is another one as soon as it is deleted, stopped or joined by a better one', () => {
    const [first, second, third] = ['/a', '/b', '/c'].map((location) => rule('a.com', { location }));
    const table = new HostTable([first, second].flatMap((one) => one ?? []), new OwnNames(), ({ location }) => location.length * 10 - location.charCodeAt(1));
    expect(table.secure('a.com')).toBe(second);
    if (third) table.set(third);
    expect(table.secure('a.com')).toBe(third);
    table.delete(third?.id ?? 0);
    expect(table.secure('a.com')).toBe(second);
    if (second) table.set({ ...second, enabled: false });
    expect(table.secure('a.com')).toBe(first);
    table.delete(first?.id ?? 0);
    expect(table.secure('a.com')).toBeUndefined();
  });

  test('a name is known if any pattern that matches it has a rule, also a stopped one', () => {
    const table = new HostTable([rule('*.a.com', { enabled: false }), rule('b.com', { location: '/x' })]);
    expect(['x.a.com', 'x.y.a.com', 'b.com', 'a.com', 'x.b.com', 'com'].map((host) => table.knows(host))).toEqual([true, true, true, false, false, false]);
  });

  test('costs with 10,000 rules what it costs with 10', () => {
    const tableOf = (count: number) =>
      new HostTable(Array.from({ length: count }, (_, n) => rule(n % 2 ? `h${n}.example.com` : 'same.example.com', { location: `/app/${n}` })));
    const [few, many] = [tableOf(10), tableOf(10_000)];
    const time = (table: HostTable<HostRule>) => {
      const start = process.cpuUsage().user;
      for (let n = 0; n < 20_000; n++) table.match(request('same.example.com', '/app/8/index.html'));
      return process.cpuUsage().user - start;
    };
    time(few);
    // The best of several: another process may have taken the processor meanwhile.
    const best = (table: HostTable<HostRule>) => Math.min(...Array.from({ length: 5 }, () => time(table)));
    expect(best(many)).toBeLessThan(3 * best(few) + 2000);
  });

  test('a path of 16 KB costs no more than its beginning', () => {
    const table = new HostTable([rule('a.com', { location: '/x' })]);
    const start = process.cpuUsage().user;
    for (let n = 0; n < 1000; n++) table.match(request('a.com', '/y'.repeat(8192)));
    expect(process.cpuUsage().user - start).toBeLessThan(500_000);
  });

  test('two rules overlap exactly when some request could go to either alone', () => {
    fc.assert(
      fc.property(rules, requests, (all, asked) => {
        const [a, b] = all.map((one) => ({ ...one, enabled: true }));
        if (a === undefined || b === undefined) return;
        const overlap = routesOverlap(a, b);
        hold(overlap === routesOverlap(b, a), 'overlap in both directions');
        hold(sameRoute(a, b) === sameRoute(b, a), 'are the same in both directions');
        hold(overlap || !sameRoute(a, b), 'overlap when they are the same');
        hold(overlap || !(new HostTable([a]).match(asked) && new HostTable([b]).match(asked)), 'overlap when both take a request');
      }),
      cases,
    );
  });

  test('patterns overlap in both directions, a wildcard not with its own suffix', () => {
    expect(patternsOverlap('*.example.com', 'a.b.example.com')).toBe(true);
    expect(patternsOverlap('*.b.example.com', '*.example.com')).toBe(true);
    expect(patternsOverlap('*.example.com', 'example.com')).toBe(false);
    expect(patternsOverlap('*.example.com', 'myexample.com')).toBe(false);
    expect(patternsOverlap('a.com', 'b.com')).toBe(false);
    expect(isBelow('*.a.com', '*.a.com')).toBe(true);
    expect(isBelow('*.com', '*.a.com')).toBe(false);
  });

  test('http and https of a domain are two routes, all is both', () => {
    const http = rule('a.com', { scheme: 'http' });
    expect(sameRoute(http, rule('a.com', { scheme: 'https' }))).toBe(false);
    expect(sameRoute(http, rule('a.com'))).toBe(true);
    expect(sameRoute(rule('a.com'), http)).toBe(true);
    expect(routesOverlap(rule('a.com', { location: '/x' }), rule('*.com', { location: '/x/y' }))).toBe(true);
    expect(routesOverlap(rule('a.com', { location: '/x' }), rule('a.com', { location: '/xy' }))).toBe(false);
  });
});
