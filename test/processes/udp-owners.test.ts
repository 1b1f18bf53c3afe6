import { expect, test } from '@jest/globals';
import { UdpOwners } from '../../src/processes/udp-owners.ts';

/** Owners for some processes, and what they were granted: "process name". */
function owners(count: number) {
  const granted: string[] = [];
  return { granted, udp: new UdpOwners(count, (process, name) => granted.push(`${process} ${name}`)) };
}

test('until all have started, ports are spread over the processes; what nobody else wants goes to the one that waits', () => {
  const { granted, udp } = owners(2);
  const names = Array.from({ length: 100 }, (_, number) => `udp ${number}`);
  const first = names.filter((name) => udp.claim(1, name, false));
  expect(first.length).toBeGreaterThan(25);
  expect(first.length).toBeLessThan(75);
  const rest = names.filter((name) => !first.includes(name));
  expect(granted).toEqual([]);
  expect(udp.claim(1, rest[0] ?? '', true)).toBe(true);
  expect(rest.filter((name) => udp.claim(2, name, false))).toEqual(rest.slice(1, -1).concat(rest.slice(-1)));
  udp.release(2, rest[1] ?? '');
  expect(granted).toEqual([]);
  udp.allStarted();
  expect(granted).toEqual([`1 ${rest[1]}`]);
});

test('a port goes to the process that has waited longest when its owner releases it or ends, and to nobody who no longer asks', () => {
  const { granted, udp } = owners(4);
  udp.allStarted();
  expect([1, 2, 3, 4].map((process) => udp.claim(process, 'udp', false))).toEqual([true, false, false, false]);
  expect(udp.claim(1, 'udp', false)).toBe(true);
  udp.release(2, 'udp');
  udp.ended(1);
  expect(granted).toEqual(['3 udp']);
  expect(udp.claim(1, 'udp', false)).toBe(false);
  udp.release(3, 'udp');
  expect(granted).toEqual(['3 udp', '4 udp']);
  expect(udp.claim(4, 'udp', true)).toBe(true);
  udp.ended(4);
  udp.ended(1);
  expect(granted).toEqual(['3 udp', '4 udp', '1 udp']);
  expect(udp.claim(2, 'udp', false)).toBe(true);
});
