import { expect, test } from '@jest/globals';
import type { ProcessMessage } from '../../src/processes/messages.ts';
import { PortsOfOthers } from '../../src/processes/ports-of-others.ts';

test('a port whose handle does not arrive is given up, and closed if it arrives later', async () => {
  const sent: ProcessMessage[] = [];
  const ports = new PortsOfOthers((message) => sent.push(message), 1);
  const place = { purpose: 'tunnel', host: '127.0.0.1', port: 9001 };
  await expect(ports.of('tunnel')('127.0.0.1', 9001)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  // Otherwise, the port would seem to be in use when this process asks again.
  expect(sent).toEqual([{ type: 'share', id: 1, ...place }, { type: 'unshare', ...place }]);
  let closed = 0;
  ports.onMessage({ type: 'shared', id: 1, problem: '' }, { close: () => closed++ });
  expect(closed).toBe(1);
  await expect(ports.claim('udp 9001', () => undefined)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  // Others may have it first, while all start.
  expect(sent.at(-1)).toEqual({ type: 'claim', id: 2, name: 'udp 9001', now: false });
  for (let times = 0; times < 2; times++) await expect(ports.claimNow('udp 9002')).rejects.toMatchObject({ code: 'ETIMEDOUT' });
});
