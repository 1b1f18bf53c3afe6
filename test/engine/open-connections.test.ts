import { expect, test } from '@jest/globals';
import { type OpenConnection, OpenConnections } from '../../src/engine/limits/open-connections.ts';

class NamedConnection implements OpenConnection {
  readonly counted = {};
  older: OpenConnection | undefined;
  newer: OpenConnection | undefined;
  readonly remoteAddress: string;

  constructor(name: string) {
    this.remoteAddress = name;
  }

  get state(): never {
    throw new Error('nobody lists it');
  }

  cut(): void {
    throw new Error('nobody closes it');
  }
}

test('connections are listed oldest first, whichever of them close, also while they are listed; closed ones refer to no others', () => {
  const open = new OpenConnections();
  const names = (): string => [...open].map(({ remoteAddress }) => remoteAddress).join('');
  const [a, b, c, d] = [...'abcd'].map((name) => new NamedConnection(name));
  if (!a || !b || !c || !d) throw new Error('there are four');
  for (const each of [a, b, c, d]) open.add(each);
  expect([names(), open.size]).toEqual(['abcd', 4]);
  open.delete(b);
  expect(names()).toBe('acd');
  open.delete(a);
  expect(names()).toBe('cd');
  open.add(b);
  open.delete(d);
  expect([names(), open.size]).toEqual(['cb', 2]);
  for (const each of open) open.delete(each);
  expect([names(), open.size]).toEqual(['', 0]);
  for (const { older, newer } of [a, b, c, d]) expect([older, newer]).toEqual([undefined, undefined]);
  for (const each of [d, a]) open.add(each);
  expect([names(), open.size]).toEqual(['da', 2]);
});
