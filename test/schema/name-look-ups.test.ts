import { expect, test } from '@jest/globals';
import { NameLookUps } from '../../src/schema/diagnosis/name-look-ups.ts';

const limited = { kind: 'limited' };

test('ten look-ups of a caller at once, then one in five seconds; 10,000 callers are remembered, those that asked last', async () => {
  const names = new NameLookUps();
  const now = 1_000_000;
  const ask = (caller: string, at = now) => names.addressesOf(caller, '192.0.2.1', at);
  for (let n = 0; n < 10; n++) expect(await ask('first')).toEqual({ kind: 'found', addresses: ['192.0.2.1'] });
  expect(await ask('first')).toEqual(limited);
  expect(await ask('first', now + 4999)).toEqual(limited);
  expect(await ask('first', now + 5000)).not.toEqual(limited);

  for (let n = 0; n < 10; n++) await ask('second');
  for (let n = 0; n < 9998; n++) await ask(`another ${n}`);
  expect([await ask('first', now + 5000), await ask('second')]).toEqual([limited, limited]);
  // One too many: who asked least recently is forgotten, and neither the newest nor those who ask again.
  for (let n = 0; n < 10; n++) await ask('newest');
  expect(await Promise.all([ask('newest'), ask('first', now + 5000), ask('second')])).toEqual([limited, limited, limited]);
});

test('addresses that only this machine reaches are not among its own', () => {
  const own = new NameLookUps().machineAddresses();
  for (const address of ['127.0.0.1', '::1']) expect(own).not.toContain(address);
});
