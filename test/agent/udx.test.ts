import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { loadUdx, newStreamId, udxDuplex } from '../../src/agent/direct/udx.ts';
import { settled } from '../support/settled.ts';

const udx = await loadUdx();
const HOST = '127.0.0.1';

/** Both ends of a stream over UDP, and what releases their sockets. */
function pair(native: NonNullable<typeof udx>) {
  const sockets = [native.createSocket(), native.createSocket()] as const;
  const ports = sockets.map((socket) => {
    socket.bind(0, HOST);
    return socket.address()?.port ?? 0;
  });
  const [one, other] = [newStreamId(), newStreamId()];
  const near = udxDuplex(native, sockets[0], { ours: one, theirs: other }, { host: HOST, port: ports[1] ?? 0 });
  const far = udxDuplex(native, sockets[1], { ours: other, theirs: one }, { host: HOST, port: ports[0] ?? 0 });
  const close = async (): Promise<void> => {
    for (const end of [near, far]) end.destroy();
    await Promise.all(sockets.map((socket) => socket.close()));
  };
  return { near, far, close };
}

(udx ? describe : describe.skip)(`a stream over UDP${udx ? '' : ' (skipped: UDX cannot be loaded here)'}`, () => {
  test('holds little for a reader who waits, and gives everything and its end in the end', async () => {
    if (!udx) throw new Error('it is there');
    const { near, far, close } = pair(udx);
    const sent = randomBytes(2 * 1024 * 1024);
    let taken = 0;
    const writing = (async () => {
      for (let at = 0; at < sent.length; at += 64 * 1024) {
        if (!near.write(sent.subarray(at, at + 64 * 1024))) await once(near, 'drain');
        taken = at;
      }
      near.end();
    })();
    await once(far, 'readable');
    // It reads nothing for a while.
    await settled(() => taken);
    expect(far.readableLength).toBeLessThan(512 * 1024);
    const received: Buffer[] = [];
    for await (const chunk of far) received.push(chunk);
    await writing;
    expect(Buffer.concat(received).equals(sent)).toBe(true);
    await close();
  });

  test('whose end is destroyed closes the other one', async () => {
    if (!udx) throw new Error('it is there');
    const { near, far, close } = pair(udx);
    near.write('x');
    await once(far, 'readable');
    const reasons: unknown[] = [];
    const closed = new Promise<void>((resolve) => far.on('error', (error) => reasons.push(error)).once('close', resolve));
    near.destroy();
    await closed;
    expect(reasons).toEqual([expect.any(Error)]);
    await close();
  });
});
