import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sessionCookieNames, setsSessionCookie, withoutSessionCookies } from '../../src/rules/session-cookie.ts';
import { cases } from '../support/outside-input.ts';

test.each([
  ['beegosessionID=s', ''],
  ['__Host-beegosessionID=s', ''],
  ['a=b; beegosessionID=s', 'a=b'],
  ['beegosessionID=s; a=b', 'a=b'],
  ['a=b; beegosessionID=s; c=d', 'a=b; c=d'],
  ['a=b;beegosessionID=s;c=d', 'a=b;c=d'],
  ['a=b;  \tbeegosessionID \t= s  ; c=d', 'a=b; c=d'],
  ['beegosessionID=s; __Host-beegosessionID=s; beegosessionID=t', ''],
  ['beegosessionID="s"; a="b"', 'a="b"'],
  ['x="a; beegosessionID=s; y=b"', 'x="a; y=b"'],
  ['beegosessionID; a=b', 'a=b'],
  ['beegosessionID=; a=b', 'a=b'],
  ['a=b; beegosessionID=s=t', 'a=b'],
  ['\xa0beegosessionID=s; a=b', 'a=b'],
  ['; ;beegosessionID=s;', '; ;'],
])('of the cookies %j %j are left', (header, kept) => expect(withoutSessionCookies(header)).toBe(kept));

test.each([
  '',
  'a=b',
  ' a=b ;; c ',
  'a=beegosessionID',
  'a=b beegosessionID=c',
  'xbeegosessionID=a',
  'beegosessionID2=a',
  'BEEGOSESSIONID=a',
  'beegosessionid=a',
  '__host-beegosessionID=a',
  '__Secure-beegosessionID=a',
  'beegosessionID_=a',
  'a=b,beegosessionID=c',
  '"beegosessionID"=a',
  '=beegosessionID=a',
])('the cookies %j stay as they are', (header) => expect(withoutSessionCookies(header)).toBe(header));

test('of any cookies all but the sessions are left, in their order', () => {
  const pair = fc.tuple(
    fc.constantFrom('a', 'b', 'xbeegosessionID', 'beegosessionIDx', ...sessionCookieNames),
    fc.constantFrom(' ', ''),
    fc.stringMatching(/^[!#-+\--:<-~]{0,6}$/),
  );
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 5 }), (pairs) => {
      const text = (some: typeof pairs): string => some.map(([name, blank, value]) => `${name}${blank}=${value}`).join('; ');
      expect(withoutSessionCookies(text(pairs))).toBe(text(pairs.filter(([name]) => !sessionCookieNames.includes(name))));
    }),
    cases,
  );
});

test.each([
  'beegosessionID=x',
  '__Host-beegosessionID=x; Secure; Path=/',
  ' beegosessionID = x; Domain=example.com',
  'beegosessionID',
  '=beegosessionID=x',
  ' = beegosessionID=x',
  'beegosessionID=',
  'beegosessionID="x"',
])('%j would set a session', (header) => expect(setsSessionCookie(header)).toBe(true));

test.each([
  'a=beegosessionID',
  'a=b; beegosessionID=x',
  'a=b; Path=/beegosessionID',
  'xbeegosessionID=x',
  'beegosessionid=x',
  'beegosessionIDx=1',
  '__Secure-beegosessionID=x',
  'a==beegosessionID=x',
  '',
])('%j would not', (header) => expect(setsSessionCookie(header)).toBe(false));
