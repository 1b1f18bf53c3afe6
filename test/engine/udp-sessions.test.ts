import { expect, test } from '@jest/globals';
import { UdpSessions } from '../../src/engine/tunnels/udp-sessions.ts';
import { DatagramBudget, DatagramSocket } from '../../src/wire/datagram-socket.ts';

/** Adds a visitor's session; `ended` holds the ports of those that were ended in good order. */
function add(sessions: UdpSessions, port: number, ended: number[]): void {
  const session = new DatagramSocket({
    remoteAddress: '127.0.0.1', remotePort: port, budget: new DatagramBudget(),
    onDatagram: () => undefined,
    onClose: () => sessions.remove({ address: '127.0.0.1', port }, session),
  });
  session.attach({ onData: () => undefined, onEnd: () => ended.push(port), onDrain: () => undefined, onClose: () => undefined });
  sessions.add({ address: '127.0.0.1', port }, session);
}

test('beyond the limit the oldest session that was not used since makes room, in the end also one that was', () => {
  const sessions = new UdpSessions(60_000, 3);
  const ended: number[] = [];
  for (const port of [1, 2, 3]) add(sessions, port, ended);
  sessions.use({ address: '127.0.0.1', port: 1 });
  for (const port of [4, 5]) add(sessions, port, ended);
  expect(ended).toEqual([2, 3]);
  expect([1, 2, 3, 4, 5].map((port) => sessions.use({ address: '127.0.0.1', port }) !== undefined)).toEqual([true, false, false, true, true]);
  // All of them were used meanwhile.
  add(sessions, 6, ended);
  expect(ended).toHaveLength(3);
  sessions.closeAll();
  expect(sessions.use({ address: '127.0.0.1', port: 1 })).toBeUndefined();
});
