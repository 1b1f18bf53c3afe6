import { createHash, randomBytes } from 'node:crypto';
import type net from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { capturedBackend } from '../../src/wire/captured-backend.ts';
import { Frame } from '../../src/wire/frames.ts';
import { Mux } from '../../src/wire/mux.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { onreadBackend } from '../../src/wire/onread-socket.ts';
import type { SocketBackend } from '../../src/wire/socket.ts';
import { WINDOW } from '../../src/wire/stream.ts';
import { errnoOf } from '../../src/wire/system-error.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { eventually } from '../support/eventually.ts';
import { closed, readAll, refusedPort, startEcho, startTarget, visit } from '../support/target.ts';
import { CLIENT, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';

/** Keeps every write apart. */
class Writes extends EmptySocket {
  readonly writes: string[] = [];
  override write(chunk: Buffer, taken?: () => void): boolean {
    this.writes.push(chunk.toString('latin1'));
    return super.write(chunk, taken);
  }
}

/** How a connection ends: the error's code, '' = cleanly. */
function endOf(socket: net.Socket): Promise<string> {
  let code = '';
  return new Promise((resolve) => {
    socket.on('error', (error) => {
      code = errnoOf(error);
    }).on('close', () => resolve(code)).resume();
  });
}

const nextIteration = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

function session() {
  const socket = new Writes();
  const mux = new Mux(socket, 'server', { onOpen: (stream) => stream.reset(), onControl: () => undefined, onClose: () => undefined }, { heartbeatMs: 60_000 });
  return { socket, mux };
}

test('bytes that a visitor sends in the next iteration share a write with the opening of its stream', async () => {
  const { socket, mux } = session();
  const visitor = new EmptySocket();
  mux.open(Buffer.from('tcp'), true)?.join(visitor);
  await nextIteration();
  expect(socket.writes).toEqual([]);
  visitor.sink?.onData(Buffer.from('GET /'));
  await nextIteration();
  await nextIteration();
  expect(socket.writes.map((bytes) => bytes.replace(/[\0\t]/g, ''))).toEqual([
    `${String.fromCharCode(Frame.OPEN)}\u0001\u0003tcp${String.fromCharCode(Frame.DATA)}\u0001\u0005GET /`,
  ]);
  mux.close('the test is over');
});

test('what waits until everything is taken does not send the opening of a stream before those bytes', async () => {
  const { socket, mux } = session();
  const visitor = new EmptySocket();
  let taken = false;
  mux.open(Buffer.from('tcp'), true)?.join(visitor);
  mux.whenTaken(() => {
    taken = true;
  });
  await nextIteration();
  visitor.sink?.onData(Buffer.from('GET /'));
  expect([socket.writes, taken]).toEqual([[], false]);
  await nextIteration();
  await nextIteration();
  expect([socket.writes.length, taken]).toEqual([1, true]);
  mux.close('the test is over');
});

test('the first bytes of a stream and its end in the next iteration share a write; later bytes do not wait', async () => {
  const { socket, mux } = session();
  const [short, long] = [new EmptySocket(), new EmptySocket()];
  for (const visitor of [short, long]) mux.open(Buffer.from('tcp'))?.join(visitor);
  await nextIteration();
  expect(socket.writes.splice(0)).toHaveLength(1);
  long.sink?.onData(Buffer.from('first'));
  for (let turns = 0; turns < 2; turns++) await nextIteration();
  expect(socket.writes.splice(0).join('')).toContain('first');
  long.sink?.onData(Buffer.from('later'));
  await nextIteration();
  expect(socket.writes.splice(0).join('')).toContain('later');
  short.sink?.onData(Buffer.from('answer'));
  await nextIteration();
  expect(socket.writes).toEqual([]);
  short.sink?.onEnd();
  for (let turns = 0; turns < 2; turns++) await nextIteration();
  expect(socket.writes).toEqual([expect.stringMatching(new RegExp(`answer${String.fromCharCode(Frame.FIN)}\\0\\0\\0\u0001`))]);
  mux.close('the test is over');
});

test('streams that are opened in each iteration wait for four iterations at most', async () => {
  const { socket, mux } = session();
  for (let turns = 0; turns < 12; turns++) {
    mux.open(Buffer.from('tcp'), true);
    await nextIteration();
  }
  expect(socket.writes.length).toBeGreaterThanOrEqual(3);
  expect(socket.writes.length).toBeLessThan(6);
  mux.close('the test is over');
});

test('a stream is opened even if its visitor sends nothing', async () => {
  const { socket, mux } = session();
  mux.open(Buffer.from('tcp'), true)?.join(new EmptySocket());
  for (let turns = 0; turns < 3; turns++) await nextIteration();
  expect(socket.writes.join('')).toContain('tcp');
  mux.close('the test is over');
});

test('frames of a stream are never sent before its opening', async () => {
  const { socket, mux } = session();
  mux.open(Buffer.from('first'), true);
  mux.open(Buffer.from('second'), true)?.reset();
  mux.open(Buffer.from('third'))?.join(new EmptySocket());
  mux.close('the test is over');
  const sent = socket.writes.join('');
  const at = ['first', 'second', `${String.fromCharCode(Frame.RST)}\0\0\0\u0003`, 'third'].map((text) => sent.indexOf(text));
  expect(at).toEqual(at.toSorted((one, other) => one - other));
  expect(at).not.toContain(-1);
});

const backends: readonly (readonly [string, () => SocketBackend | Promise<SocketBackend>])[] = [
  ['net', () => netBackend],
  ['onread', () => onreadBackend],
  ['captured', capturedBackend],
];

describe.each(backends)('with %s sockets', (_, backend) => {
  /** A tunnel to a target; the agent's dials wait until they are let go. */
  async function rig(target: string) {
    const sockets = await backend();
    const server = await startEngine({ sockets });
    const waiting: (() => void)[] = [];
    let held = false;
    const dial: SocketBackend['dial'] = (options, onDialled) => {
      if (held) waiting.push(() => sockets.dial(options, onDialled));
      else sockets.dial(options, onDialled);
    };
    await startAgent(server, { sockets: { ...sockets, dial } });
    const { port, id } = await openTunnel(server, { targets: [target] });
    return {
      port,
      hold: () => {
        held = true;
      },
      dials: () => waiting.length,
      letGo: () => {
        for (const go of waiting.splice(0)) go();
      },
      /** Resolves when nobody's connection is open, for the tunnel and for the client. */
      idle: () =>
        eventually(() => (server.engine.tunnelState(id)?.connections ?? 0) + (server.engine.clientState(CLIENT.id)?.connections ?? 0), (open) => open === 0),
    };
  }

  test('bytes that visitors send at once arrive complete and in order, and so do the answers', async () => {
    const { port, idle } = await rig((await startEcho()).address);
    const seen = await Promise.all(Array.from({ length: 40 }, async (_each, number) => {
      const sent = randomBytes(1 + number ** 3 * 20);
      const visitor = await visit(port);
      visitor.write(sent.subarray(0, 1));
      visitor.end(sent.subarray(1));
      const got = createHash('sha256').update(await readAll(visitor)).digest('hex');
      return got === createHash('sha256').update(sent).digest('hex');
    }));
    expect(seen).toEqual(seen.map(() => true));
    expect(await idle()).toBe(0);
  });

  test('a visitor that sends nothing receives the bytes of a target that speaks first', async () => {
    const { port } = await rig((await startTarget((socket) => socket.end('welcome'))).address);
    expect((await readAll(await visit(port))).toString()).toBe('welcome');
  });

  test('visitors of a target that refuses are reset, whatever they have sent', async () => {
    const { port, idle } = await rig(`127.0.0.1:${await refusedPort()}`);
    for (const bytes of [0, 1, 2 * WINDOW]) {
      const visitor = await visit(port);
      const end = endOf(visitor);
      if (bytes > 0) visitor.write(Buffer.alloc(bytes));
      expect(await end).toBe('ECONNRESET');
    }
    expect(await idle()).toBe(0);
  });

  test('if a dial fails, more than a window of waiting bytes is discarded', async () => {
    const { port, hold, dials, letGo, idle } = await rig(`127.0.0.1:${await refusedPort()}`);
    hold();
    const visitor = await visit(port);
    const end = endOf(visitor);
    visitor.write(Buffer.alloc(4 * WINDOW));
    await eventually(dials, (count) => count === 1);
    letGo();
    expect(await end).toBe('ECONNRESET');
    expect(await idle()).toBe(0);
  });

  test('a visitor that ends at once gets its answer', async () => {
    const { port, hold, dials, letGo } = await rig(
      (await startTarget(async (socket) => {
        socket.end(`got ${(await readAll(socket)).toString()}`);
      })).address,
    );
    hold();
    const [silent, brief] = [await visit(port), await visit(port)];
    silent.end();
    brief.end('all of it');
    await eventually(dials, (count) => count === 2);
    const answers = Promise.all([silent, brief].map(async (visitor) => (await readAll(visitor)).toString()));
    letGo();
    expect(await answers).toEqual(['got ', 'got all of it']);
  });

  test('a visitor that disconnects before the dial is answered leaves nothing behind', async () => {
    const target = await startTarget();
    const accepted = target.accepted();
    const { port, hold, dials, letGo, idle } = await rig(target.address);
    hold();
    const visitor = await visit(port);
    visitor.write('never mind');
    await eventually(dials, (count) => count === 1);
    visitor.resetAndDestroy();
    expect(await idle()).toBe(0);
    letGo();
    await closed((await accepted).on('error', () => undefined));
  });

  test('visitors that reset their connection at once leave nothing behind', async () => {
    const { port, idle } = await rig((await startEcho()).address);
    await Promise.all(Array.from({ length: 50 }, async (_each, number) => {
      const visitor = await visit(port);
      if (number % 2 === 0) visitor.write('hello');
      visitor.resetAndDestroy();
    }));
    expect(await idle()).toBe(0);
  });
});
