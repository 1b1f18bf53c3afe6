import { expect, test } from '@jest/globals';
import { claimsOf } from '../../src/agent/claims.ts';
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
