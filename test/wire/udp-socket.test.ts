import { expect, test } from '@jest/globals';
import { UdpSocket } from '../../src/wire/udp-socket.ts';

test('a socket reports its end once, and nothing after it', async () => {
  const [socket, peer] = [await UdpSocket.bind({ host: '127.0.0.1', port: 0 }), await UdpSocket.bind({ host: '127.0.0.1', port: 0 })];
  const seen: string[] = [];
  const arrived = new Promise<void>((resolve) => {
    socket.serve({
      onDatagram(bytes) {
        seen.push(String(bytes));
        resolve();
      },
      onDropped: () => seen.push('dropped'),
      onClose: () => seen.push('closed'),
    });
  });
  peer.send(Buffer.from('hello'), socket.local);
  await arrived;
  await Promise.all([socket.close(), socket.close()]);
  socket.send(Buffer.from('too late'), peer.local);
  expect(seen).toEqual(['hello', 'closed']);
  await peer.close();
});
