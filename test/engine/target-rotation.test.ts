import { expect, test } from '@jest/globals';
import { TargetRotation } from '../../src/engine/tunnels/target-rotation.ts';
import { decodeOpen } from '../../src/wire/open.ts';

const targetsOf = (count: number) => Array.from({ length: count }, (_, index) => `127.0.0.1:${index + 1}`);

/** The targets of the next connections, in the order in which the agent tries them. */
function tries(rotation: TargetRotation, connections: number): string[][] {
  return Array.from({ length: connections }, () => {
    const request = rotation.next && decodeOpen(rotation.next);
    rotation.advance();
    return request?.kind === 'tcp' ? request.targets : [];
  });
}

test('each connection starts with the next target, and continues in order', () => {
  const [a = '', b = '', c = ''] = targetsOf(3);
  expect(tries(new TargetRotation({ kind: 'tcp' }, [a, b, c]), 4)).toEqual([[a, b, c], [b, c, a], [c, a, b], [a, b, c]]);
});

test('of many targets a connection tries a hundred, and the next one starts with the next target', () => {
  const all = targetsOf(250);
  const made = tries(new TargetRotation({ kind: 'tcp' }, all), 251);
  expect(made[0]).toEqual(all.slice(0, 100));
  expect(made[1]).toEqual(all.slice(1, 101));
  expect(made[200]).toEqual([...all.slice(200), ...all.slice(0, 50)]);
  expect(made[249]).toEqual([...all.slice(249), ...all.slice(0, 99)]);
  expect(made[250]).toEqual(made[0]);
});

test.each([[32, true], [33, false]])('the requests for %i targets are kept: %s', (count, kept) => {
  const rotation = new TargetRotation({ kind: 'tcp' }, targetsOf(count));
  expect(rotation.next === rotation.next).toBe(kept);
});

test('other targets continue the order of the former ones, also if they are fewer', () => {
  const [a = '', b = '', c = '', d = ''] = targetsOf(4);
  const before = new TargetRotation({ kind: 'tcp' }, [a, b, c]);
  tries(before, 2);
  const next = (targets: readonly string[]) => tries(new TargetRotation({ kind: 'tcp' }, targets, before), 1)[0];
  expect([next([a, b, c, d]), next([a, b]), next([a])]).toEqual([[c, d, a, b], [a, b], [a]]);
  expect(new TargetRotation({ kind: 'tcp' }, [], before).next).toBeUndefined();
});
