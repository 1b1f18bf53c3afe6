import { expect, test } from '@jest/globals';
import { HandshakeGate } from '../../src/engine/bridge/handshake-gate.ts';

test('one address cannot take all places, and places come back', () => {
  const gate = new HandshakeGate({ total: 3, perAddress: 2 });
  expect([gate.enter('a'), gate.enter('a'), gate.enter('a')]).toEqual([true, true, false]);
  expect([gate.enter('b'), gate.enter('c')]).toEqual([true, false]);
  gate.leave('a');
  expect([gate.size, gate.enter('c')]).toEqual([2, true]);
});
