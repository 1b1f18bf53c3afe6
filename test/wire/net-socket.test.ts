import process from 'node:process';
import { expect, test } from '@jest/globals';
import type { ByteSocket } from '../../src/wire/socket.ts';
import { settled } from '../support/settled.ts';
import { socketPair } from '../support/wire.ts';

const handles = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

function closing(socket: ByteSocket): Promise<Error | undefined> {
  return new Promise((resolve) => {
    socket.attach({ onData: () => undefined, onEnd: () => undefined, onDrain: () => undefined, onClose: resolve });
  });
}

test.each([
  ['nothing was written', 0],
  ['something was written', 1000],
  ['more was written than the kernel takes', 50_000_000],
])('a reset right after the end of our direction closes the socket for good when %s', async (_, bytes) => {
  const before = await settled(handles); // what an earlier suite left may still be closing
  const { dialled, accepted } = await socketPair();
  const closed = [closing(dialled), closing(accepted)];
  if (bytes > 0) dialled.write(Buffer.alloc(bytes));
  dialled.end();
  dialled.destroy(true);
  expect(await closed[0]).toBeUndefined();
  accepted.destroy();
  await closed[1];
  expect(await settled(handles)).toBe(before);
});
