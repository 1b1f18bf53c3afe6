import { expect, test } from '@jest/globals';
import { TunnelConflicts } from '../../src/schema/import/conflicts.ts';
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
