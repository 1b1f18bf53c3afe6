import { expect, test } from '@jest/globals';
import { claimsOf, takingOrder } from '../../src/agent/claims.ts';
import { declaredHostOf, declaredTunnelOf } from '../support/declared-entries.ts';

test('hosts conflict when they have the same name and path, or the same prefix below the same platform domain', () => {
  const claim = (host: Parameters<typeof declaredHostOf>[0]): string => claimsOf({ kind: 'host', name: 'x', host: declaredHostOf(host) }).join();
  const below = (platformDomainId: string, platformPrefix: string, location = '/') => claim({ host: '', platformDomainId, platformPrefix, location });
  expect(below('d', 'a')).toBe(below('d', 'a'));
  expect(new Set([below('d', 'a'), below('e', 'a'), below('d', 'b'), below('d', 'a', '/x'), claim({ host: 'a.b' }), claim({ host: 'a.c' })]).size).toBe(6);
});

test('tunnels conflict when they have the same port of a transport, chosen or assigned, or the same password', () => {
  const claim = (tunnel: Parameters<typeof declaredTunnelOf>[0], given?: number): string[] =>
    claimsOf({ kind: 'tunnel', name: 'x', tunnel: declaredTunnelOf(tunnel) }, given);
  expect(claim({ port: 80 }, 90)).toEqual(claim({}, 80));
  expect(claim({ mode: 'udp', port: 80 })).not.toEqual(claim({ port: 80 }));
  expect(claim({})).toEqual([]);
  expect(claim({ mode: 'secret', password: 'p' })).toEqual(['password p']);
});

test('a change waits for those that release its values; of a circle, one is withdrawn', () => {
  const order = (changes: Readonly<Record<string, readonly [holds: string, claims: string]>>) => {
    const texts = (text: string): string[] => text.split(' ').filter((claim) => claim !== '');
    const taken = takingOrder(new Map(Object.entries(changes).map(([key, [holds, claims]]) => [key, { holds: texts(holds), claims: texts(claims) }])));
    return [taken.order.join(' '), [...taken.withdrawn].join(' ')];
  };
  expect(order({ a: ['', '1'], b: ['', '2'] })).toEqual(['a b', '']);
  expect(order({ a: ['', '1 2'], b: ['1', ''], c: ['2', ''] })).toEqual(['b c a', '']);
  expect(order({ a: ['1', '2'], b: ['2', '3'], c: ['3', '4'] })).toEqual(['c b a', '']);
  // What an entry keeps is not released.
  expect(order({ a: ['1', '1 2'], b: ['2', '2 3'], c: ['4', '1'] })).toEqual(['a b c', '']);
  expect(order({ a: ['1', '2'], b: ['2', '1'], c: ['3', '4'] })).toEqual(['b a c', 'a']);
  expect(order({ a: ['1', '2'], b: ['2', '3'], c: ['3', '1'] })).toEqual(['c b a', 'a']);
});
