import { expect, test } from '@jest/globals';
import { DomainConflicts, type HostClaims, HostConflicts, TunnelConflicts } from '../../src/schema/import/conflicts.ts';
import { schemaSettings } from '../support/schema-settings.ts';

test.each([
  ['', '', true],
  ['', '192.0.2.1', true],
  ['192.0.2.1', '', true],
  ['192.0.2.1', '192.0.2.1', true],
  ['192.0.2.1', '192.0.2.2', false],
])('tunnels with one port at the addresses "%s" and "%s" of the server: a conflict is %s', (first, second, conflict) => {
  const conflicts = new TunnelConflicts(schemaSettings);
  const tunnel = (id: number, serverIp: string) => ({ id, mode: 'tcp', port: 9001, serverIp, enabled: true, password: '' }) as const;
  expect(conflicts.add(tunnel(1, first), 'the first')).toBeUndefined();
  expect(conflicts.add(tunnel(2, second), 'the second') !== undefined).toBe(conflict);
});

test('only what uses a port needs one of its own, and no other keyed tunnel may have the password', () => {
  const conflicts = new TunnelConflicts({ ...schemaSettings, allowPorts: [{ from: 80, to: 9000 }] });
  const tunnel = { id: 1, mode: 'tcp', port: 9000, serverIp: '', enabled: true, password: 'word' } as const;
  const added = [
    tunnel,
    { ...tunnel, mode: 'udp' },
    { ...tunnel, mode: 'socks5', enabled: false },
    { ...tunnel, port: 0 },
    { ...tunnel, mode: 'file' },
    { ...tunnel, port: 9001 },
    { ...tunnel, port: 8025, serverIp: '192.0.2.1' },
    { ...tunnel, port: 443 },
    { ...tunnel, mode: 'udp', port: 8024 },
    { ...tunnel, mode: 'secret' },
    { ...tunnel, mode: 'p2p' },
    { ...tunnel, mode: 'p2p', password: 'another' },
  ] as const;
  expect(added.map((row, index) => conflicts.add(row, `tunnel ${index}`))).toEqual([
    ...[undefined, undefined, undefined, undefined],
    { field: 'port', text: 'port 9000 is in use by tunnel 0: give it another port, or stop one of the two' },
    { field: 'port', text: 'port 9001 is not among the ports that allow_ports names' },
    { field: 'port', text: 'port 8025 is in use by the server itself: give it another port, or stop one of the two' },
    { field: 'port', text: 'port 443 is in use by the server itself: give it another port, or stop one of the two' },
    undefined,
    undefined,
    { field: 'password', text: 'is the password of tunnel 9, too: it must be unique among secret and p2p tunnels' },
    undefined,
  ]);
});

test('platform domains neither overlap nor share an id; one that was refused takes nothing', () => {
  const conflicts = new DomainConflicts();
  const added = [['a', '*.p.example'], ['b', '*.x.p.example'], ['a', '*.q.example'], ['b', '*.r.example'], ['c', '*.example']] as const;
  expect(added.map(([id, wildcard], index) => conflicts.add({ id, wildcard }, `domain ${index}`))).toEqual([
    undefined,
    { field: 'wildcard', text: '*.x.p.example overlaps *.p.example (domain 0)' },
    { field: 'id', text: 'occurs twice' },
    undefined,
    { field: 'wildcard', text: '*.example overlaps *.p.example (domain 0)' },
  ]);
});

const same = 'has the same host and location as the first, for the same scheme';
const overlaps = (place: string) => `overlaps the first (${place}) of another owner: give both clients the same user, or change one of the hosts`;
// Clients 1 and 2 have one owner, 3 has another.
const [another, byAdmin] = [{ clientId: 3 }, { clientId: 3, namedByAdmin: true }];

test.each<readonly [Partial<HostClaims>, Partial<HostClaims>, string | undefined]>([
  [{}, { clientId: 2 }, same],
  [{}, another, same],
  [{ scheme: 'http' }, { scheme: 'all' }, same],
  [{ scheme: 'http' }, { ...another, scheme: 'https' }, undefined],
  [{ location: '/a' }, { clientId: 2 }, undefined],
  [{ location: '/a' }, another, overlaps('n.b.example.com/a')],
  [{ location: '/a' }, { ...another, location: '/b' }, undefined],
  [{ host: '*.b.example.com' }, another, overlaps('*.b.example.com/')],
  [{ host: '*.example.com' }, another, overlaps('*.example.com/')],
  [{ host: '*.example.com' }, { clientId: 2 }, undefined],
  [{}, { ...another, host: '*.b.example.com' }, overlaps('n.b.example.com/')],
  [{}, { ...another, host: '*.example.com' }, overlaps('n.b.example.com/')],
  [{ host: '*.b.example.com' }, { ...another, host: '*.example.com' }, overlaps('*.b.example.com/')],
  [{ host: '*.example.com' }, { ...another, host: '*.b.example.com' }, overlaps('*.example.com/')],
  [{ host: '*.a.example.com' }, { ...another, host: '*.b.example.com' }, undefined],
  [{ host: 'b.example.com' }, { ...another, host: '*.b.example.com' }, undefined],
  [{ host: '*.com' }, byAdmin, undefined],
  [{ host: '*.com' }, another, overlaps('*.com/')],
  [{ namedByAdmin: true }, { ...another, host: '*.com' }, undefined],
  [{ host: '*.b.example.com' }, byAdmin, overlaps('*.b.example.com/')],
  [{ host: '*.example.com' }, { ...byAdmin, host: 'panel.example.com' }, undefined],
  [{ host: '*.example.com' }, { ...another, host: 'panel.example.com' }, overlaps('*.example.com/')],
  [{ host: 'panel.example.com', namedByAdmin: true }, { ...another, host: '*.example.com' }, undefined],
  [{ host: 'panel.example.com' }, { ...another, host: '*.example.com' }, overlaps('panel.example.com/')],
  [{ host: 'x.p.example', platformDomainId: 'p' }, { host: 'x.p.example', platformDomainId: 'p', location: '/a' }, 'is the name of the first, too'],
  [{ host: 'x.github.io', namedByAdmin: true, location: '/a' }, { host: 'x.github.io', platformDomainId: 'g' }, 'is the name of the first, too'],
  [{ host: 'x.p.example', platformDomainId: 'p' }, { host: 'y.p.example', platformDomainId: 'p' }, undefined],
  [{}, { host: 'x.p.example' }, 'lies in the platform domain *.p.example: make it a host of that domain'],
  [{}, { ...byAdmin, host: 'x.p.example' }, 'lies in the platform domain *.p.example: make it a host of that domain'],
  [{}, { host: 'x.github.io' }, 'lies in the platform domain *.github.io: make it a host of that domain'],
  [{}, { ...byAdmin, host: 'x.github.io' }, undefined],
  [{}, { ...byAdmin, host: '*.io' }, 'lies in the platform domain *.github.io: make it a host of that domain'],
])('a host %j, then %j: %s', (one, other, text) => {
  const domains = [['p', '*.p.example'], ['g', '*.github.io']].map(([id = '', wildcard = '']) => ({ id, wildcard, certFilePath: '', keyFilePath: '' }));
  const conflicts = new HostConflicts(domains, ['https://panel.example.com:8081'], (clientId) => clientId < 3 ? 'one' : 'other');
  const host = { id: 1, host: 'n.b.example.com', location: '/', scheme: 'all', clientId: 1, namedByAdmin: false, platformDomainId: null };
  expect(conflicts.add({ ...host, ...one }, 'the first')).toBeUndefined();
  expect(conflicts.add({ ...host, id: 2, ...other }, 'the second')).toEqual(text === undefined ? undefined : { field: 'host', text });
});
