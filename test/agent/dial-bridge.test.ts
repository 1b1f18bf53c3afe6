import { expect, test } from '@jest/globals';
import { dialBridge } from '../../src/agent/dial-bridge.ts';
import { keyIdOf } from '../../src/wire/handshake.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { startTarget } from '../support/target.ts';

test('the connect and the handshake have a timeout each', async () => {
  const { port } = await startTarget();
  const connects: Array<number | undefined> = [];
  const sockets = {
    ...netBackend,
    connect: (options: Parameters<typeof netBackend.connect>[0]) => {
      connects.push(options.timeoutMs);
      return netBackend.connect(options);
    },
  };
  const bridge = { sockets, server: { host: '127.0.0.1', port }, timeouts: { connectMs: 60_000, handshakeMs: 50 } };
  const dialed = dialBridge(bridge, { role: 'mux', keyId: keyIdOf('k'), key: 'k', connection: 0, info: {} });
  await expect(dialed).rejects.toMatchObject({ name: 'HandshakeError', code: 'timeout' });
  expect(connects).toEqual([60_000]);
});
