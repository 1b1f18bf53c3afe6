import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Mux, type MuxOptions } from '../../src/wire/mux.ts';
import { capturedBackend } from '../../src/wire/captured-backend.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { onreadBackend } from '../../src/wire/onread-socket.ts';
import { Child } from '../support/child.ts';
import { isShort, sized } from '../support/endurance.ts';
import { connectTo, netServer } from '../support/net-server.ts';
import { settled } from '../support/settled.ts';
import { standardTransfers, transfer, transferTarget } from '../support/transfers.ts';
import { deferred, wireTunnel, type WireTunnel, type WireTunnelOptions } from '../support/wire.ts';

const MB = 1024 * 1024;
const open: Array<{ close(): unknown }> = [];
afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing.close();
});

async function tunnelToTransfers(
  options?: Parameters<typeof wireTunnel>[1],
): Promise<{ tunnel: WireTunnel; target: Awaited<ReturnType<typeof transferTarget>> }> {
  const target = await transferTarget();
  const tunnel = await wireTunnel(target.port, options);
  open.push(target, tunnel);
  return { tunnel, target };
}

const tunnels: ReadonlyArray<readonly [name: string, options: WireTunnelOptions]> = [
  ['with data connections', {}],
  ['on the mux alone, on captured handles', { dataConnections: false, sockets: await capturedBackend() }],
  ['compressed over TLS', { secure: true, compress: true }],
];
const moreTunnels: typeof tunnels = [
  ['on the mux alone', { dataConnections: false }],
  ['with data connections, read into one buffer', { sockets: onreadBackend }],
  ['with data connections, on captured handles', { sockets: await capturedBackend() }],
  ['on the mux alone, read into one buffer', { dataConnections: false, sockets: onreadBackend }],
  ['compressed', { compress: true }],
  ['over TLS', { secure: true }],
];

test.each(isShort ? tunnels : [...tunnels, ...moreTunnels])('36 concurrent streams arrive whole on both sides, %s', async (_, options) => {
  const { tunnel, target } = await tunnelToTransfers(options);
  const largest = sized(0.75, options.secure || options.compress ? 2 : 8, 2) * MB;
  await Promise.all(standardTransfers(largest).map((what) => transfer(tunnel.port, what)));
  expect(target.failures).toEqual([]);
  // The visitor has seen its last byte; the server's side of the last socket may close a moment later.
  await settled(() => tunnel.counted.closed);
  expect(tunnel.counted).toMatchObject({ closed: 36, errors: 0 });
  expect(tunnel.server.streamCount).toBe(0);
  expect(tunnel.agent.streamCount).toBe(0);
});

/** A tunnel whose idle data connections are there, and how many were added in all. */
async function withDataConnections(options?: WireTunnelOptions) {
  const { tunnel } = await tunnelToTransfers(options);
  const added: number[] = [];
  const addConnection = tunnel.agent.addDataConnection.bind(tunnel.agent);
  await new Promise<void>((resolve) => {
    tunnel.agent.addDataConnection = (socket, id) => {
      added.push(id);
      addConnection(socket, id);
      if (added.length === 8) resolve();
    };
  });
  return { tunnel, added };
}

test('a stream that carries much goes on over a data connection, and the connection is not used again', async () => {
  const { tunnel, added } = await withDataConnections();
  await transfer(tunnel.port, { up: 4 * MB, down: 4 * MB });
  // Two directions moved, so at least one connection was used up and replaced.
  expect(added.length).toBeGreaterThanOrEqual(9);
});

/** Counts how often a stream of the tunnel moves to a data connection. */
function countMoves({ server, agent }: WireTunnel): { count: number } {
  const moves = { count: 0 };
  for (const mux of [server, agent]) {
    const moveOut = mux.moveOut.bind(mux);
    mux.moveOut = (...given) => {
      moves.count++;
      return moveOut(...given);
    };
  }
  return moves;
}

test('a stream that carries much in small pieces stays on the mux, until its pieces are large', async () => {
  const target = await netServer((socket) => socket.pipe(socket));
  const tunnel = await wireTunnel(target.port);
  open.push(target, tunnel);
  const moves = countMoves(tunnel);
  const visitor = await connectTo(tunnel.port);
  const echo = async (piece: Buffer, times: number): Promise<void> => {
    for (; times > 0; times--) {
      visitor.write(piece);
      for (let came = 0; came < piece.length;) came += Buffer.byteLength((await once(visitor, 'data'))[0]);
    }
  };
  await echo(Buffer.alloc(4000), 300);
  expect(moves.count).toBe(0);
  await echo(Buffer.alloc(MB), 3);
  expect(moves.count).toBe(2);
  visitor.end();
});

test('a stream that compression does not make smaller moves as well, one that it does stays', async () => {
  const { tunnel, added } = await withDataConnections({ compress: true });
  const target = await netServer((socket) => socket.end(Buffer.alloc(24 * MB, 'all work and no play makes a dull boy, ')));
  open.push(target);
  const shrinking = await wireTunnel(target.port, { compress: true });
  open.push(shrinking);
  const moves = countMoves(shrinking);
  const visitor = await connectTo(shrinking.port);
  let bytes = 0;
  for await (const chunk of visitor) bytes += Buffer.byteLength(chunk);
  expect({ bytes, moves: moves.count }).toEqual({ bytes: 24 * MB, moves: 0 });
  await transfer(tunnel.port, { up: 16 * MB, down: 16 * MB });
  expect(added.length).toBeGreaterThanOrEqual(9);
});

test('a reader that stops reading stops the sender, and loses nothing', async () => {
  const target = await netServer((socket) => socket.end(Buffer.alloc(64 * MB, 7)));
  const tunnel = await wireTunnel(target.port, { dataConnections: false });
  open.push(target, tunnel);
  const visitor = await connectTo(tunnel.port);
  visitor.pause();
  // The stream's credit and the kernel's buffers may be under way: a fraction of what is offered.
  const stalled = await settled(() => tunnel.counted.received);
  expect(stalled).toBeGreaterThan(0);
  expect(stalled).toBeLessThan(32 * MB);
  let bytes = 0;
  for await (const chunk of visitor) bytes += Buffer.byteLength(chunk);
  expect(bytes).toBe(64 * MB);
});

test('a visitor that is cut off cuts off the target, and the other way round', async () => {
  const target = await netServer((socket) =>
    socket.on('data', (data) => {
      if (data.toString() === 'cut me') socket.resetAndDestroy();
      else socket.write('hello');
    })
  );
  const tunnel = await wireTunnel(target.port);
  open.push(target, tunnel);

  const accepted = target.accepted();
  const leaving = await connectTo(tunnel.port);
  leaving.write('hi');
  await once(leaving, 'data');
  const lost = once(await accepted, 'error');
  leaving.resetAndDestroy();
  expect((await lost)[0]).toMatchObject({ code: 'ECONNRESET' });

  const cut = await connectTo(tunnel.port);
  const refused = once(cut, 'error');
  cut.write('cut me');
  expect((await refused)[0]).toMatchObject({ code: 'ECONNRESET' });
  expect(tunnel.counted).toMatchObject({ closed: 2, errors: 2 });
  expect(tunnel.agent.streamCount + tunnel.server.streamCount).toBe(0);
});

test('when the session ends every visitor connection is closed at once', async () => {
  const target = await netServer((socket) => socket.write('x'));
  const tunnel = await wireTunnel(target.port);
  open.push(target, tunnel);
  const visitors = await Promise.all(Array.from({ length: 50 }, async () => {
    const visitor = await connectTo(tunnel.port);
    await once(visitor, 'data');
    return visitor;
  }));
  const closed = Promise.all(visitors.map((visitor) => new Promise((resolve) => visitor.on('close', resolve))));
  tunnel.agent.close('the agent stops');
  await closed;
  expect(await tunnel.serverClosed).toBe('the peer closed the connection');
  expect(tunnel.counted).toMatchObject({ closed: 50, errors: 50 });
});

test('one bulk stream leaves room for small ones', async () => {
  const target = await netServer((socket) => {
    socket.on('data', (data) => socket.write(data));
    socket.on('end', () => socket.end());
  });
  const tunnel = await wireTunnel(target.port, { dataConnections: false });
  open.push(target, tunnel);
  const bulk = await connectTo(tunnel.port);
  let echoed = 0;
  bulk.on('data', (data) => {
    echoed += data.length;
  });
  const block = Buffer.alloc(256 * 1024, 1);
  const pump = (): void => {
    while (!bulk.destroyed && bulk.write(block));
  };
  bulk.on('drain', pump);
  pump();
  const small = await connectTo(tunnel.port);
  for (let i = 0; i < 100; i++) {
    small.write('ping');
    await once(small, 'data');
  }
  expect(echoed).toBeGreaterThan(0);
  bulk.destroy();
});

describe('a peer that gives signs of life', () => {
  /** Sends a PING every 20 ms, in a process of its own. */
  const pinging = `
    const socket = require('node:net').connect(Number(process.argv[1]), '127.0.0.1');
    setInterval(() => socket.write(Buffer.from('070000000000000000', 'hex')), 20);
    socket.on('error', () => process.exit()).on('close', () => process.exit());
  `;
  const options: MuxOptions = { heartbeatMs: 100, silenceMs: 300 };

  /** A mux whose other side is that process. */
  async function watched(more: MuxOptions = {}) {
    const ended = deferred<string>();
    const muxOf = deferred<Mux>();
    const listener = await netBackend.listen({
      host: '127.0.0.1',
      port: 0,
      onError: ended.reject,
      onSocket: (socket) =>
        muxOf.resolve(
          new Mux(socket, 'server', { onOpen: (stream) => stream.reset(), onControl: () => undefined, onClose: ended.resolve }, { ...options, ...more }),
        ),
    });
    const peer = new Child(process.execPath, ['-e', pinging, String(listener.port)]);
    open.push({
      close: async () => {
        await peer.end();
        await listener.close();
      },
    });
    return { mux: await muxOf.promise, peer, ended: ended.promise };
  }

  const stillOpen = (ended: Promise<string>, ms: number) => Promise.race([ended, delay(ms, 'open')]);

  test('is not disconnected when this process itself was delayed', async () => {
    const { mux, ended } = await watched();
    for (let round = 0; round < 3; round++) {
      expect(await stillOpen(ended, 150)).toBe('open');
      // Nothing is read and no timer runs for longer than the silence that is allowed.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
    }
    expect(await stillOpen(ended, 500)).toBe('open');
    mux.close('done');
  });

  test('and falls silent is disconnected in time', async () => {
    const { peer, ended } = await watched();
    expect(await stillOpen(ended, 150)).toBe('open');
    peer.kill('SIGSTOP');
    const start = performance.now();
    expect(await ended).toMatch(/^no sign of life for 0\.\d s$/);
    expect(performance.now() - start).toBeGreaterThan(200);
  });

  test('outside the connection is not disconnected because of data stuck on it', async () => {
    let beside = 0;
    const { peer, ended } = await watched({ heardOutOfBand: () => beside });
    const signs = setInterval(() => {
      beside = performance.now();
    }, 20);
    peer.kill('SIGSTOP');
    expect(await stillOpen(ended, 800)).toBe('open');
    clearInterval(signs);
    expect(await ended).toMatch(/^no sign of life/);
  });
});
