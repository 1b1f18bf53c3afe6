import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { BACKEND_NAMES } from '../../src/wire/backends.ts';
import { isShort } from '../support/endurance.ts';
import { eventually } from '../support/eventually.ts';
import { hashOf, receive, sendPayload } from '../support/payload.ts';
import { startTarget, visit } from '../support/target.ts';
import { onEveryBackend, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';

const OFFERED = (isShort ? 64 : 96) * 1024 * 1024;
/** What the kernel's buffers on the three sockets of the way may take, and the 1 MB of the stream. */
const HELD = 48 * 1024 * 1024;

onEveryBackend(() => {
  test('a reader that stops holds the sender back, and loses nothing when it goes on', async () => {
    const server = await startEngine();
    await startAgent(server);
    const target = await startTarget((socket) => void sendPayload(socket, OFFERED, 3));
    const { port, id } = await openTunnel(server, { targets: [target.address] });
    const visitor = await visit(port);
    visitor.pause();

    // The sender stands still once nothing has moved for a while.
    let last = -1;
    let since = performance.now();
    await eventually(() => target.connections[0]?.bytesWritten ?? 0, (now) => {
      if (now !== last) since = performance.now();
      last = now;
      return now > 0 && performance.now() - since > 200;
    });
    expect(last).toBeLessThan(HELD);
    expect(server.engine.tunnelState(id)?.exportBytes).toBeLessThan(HELD);

    expect(await receive(visitor)).toEqual({ bytes: OFFERED, hash: hashOf(OFFERED, 3) });
    expect(server.engine.tunnelState(id)?.exportBytes).toBe(OFFERED);
  });

  test('other visitors are served while one does not read', async () => {
    const server = await startEngine();
    await startAgent(server);
    const flood = await startTarget((socket) => void sendPayload(socket, OFFERED, 4));
    const quick = await startTarget((socket) => socket.end('quick'));
    const flooded = await openTunnel(server, { targets: [flood.address] });
    const { port } = await openTunnel(server, { targets: [quick.address] });
    (await visit(flooded.port)).pause();
    await eventually(() => server.engine.tunnelState(flooded.id)?.exportBytes ?? 0, (bytes) => bytes > 1024 * 1024);
    for (let i = 0; i < 20; i++) {
      const [answer]: Buffer[] = await once(await visit(port), 'data');
      expect(String(answer)).toBe('quick');
    }
  });
}, isShort ? ['captured'] : BACKEND_NAMES);
