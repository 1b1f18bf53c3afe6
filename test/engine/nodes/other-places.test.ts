import { expect, test } from '@jest/globals';
import { OtherPlaces } from '../../../src/engine/nodes/other-places.ts';
import type { OtherServers } from '../../../src/wire/other-servers.ts';

const placeOf = (name: string) => ({ name, host: `${name}.example`, port: 8025, bridgePort: 8024 });

test('each node tells of the others from the one after it on, without those that are leaving, and of processes at its own address', () => {
  const sent: OtherServers[] = [];
  const places = new OtherPlaces('c', new Set(['c-2']), (others) => sent.push(others));
  const serversOf = (...names: string[]) => names.map((name) => ({ host: `${name}.example`, port: 8024, tlsPort: 8025 }));
  expect(places.use(['b', 'c', 'e', 'a', 'd'].map(placeOf))).toBe(true);
  places.leaves('e', true);
  places.add(placeOf('c-2'));
  places.add(placeOf('c-2'));
  places.leaves('e', false);
  expect(sent).toEqual([
    { servers: serversOf('d', 'e', 'a', 'b'), here: false },
    { servers: serversOf('d', 'a', 'b'), here: false },
    { servers: serversOf('d', 'a', 'b'), here: true },
    { servers: serversOf('d', 'e', 'a', 'b'), here: true },
  ]);
  expect([places.others, places.names]).toEqual([sent.at(-1), ['b', 'e', 'a', 'd', 'c-2']]);
});

test('of processes at one address one is named, and of many servers as many as a message may name', () => {
  const sent: OtherServers[] = [];
  const places = new OtherPlaces('a', new Set(), (others) => sent.push(others));
  const names = Array.from({ length: 40 }, (_, index) => `n${10 + index}`);
  places.use([...['n10', 'n11'].map(placeOf), { ...placeOf('n50'), host: 'n10.example' }]);
  places.use(names.map(placeOf));
  expect(sent.map(({ servers }) => servers.map(({ host }) => host))).toEqual([2, 32].map((count) => names.slice(0, count).map((name) => `${name}.example`)));
});
