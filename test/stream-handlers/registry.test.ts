import process from 'node:process';
import { expect, test } from '@jest/globals';
import { answerRequest } from '../../src/stream-handlers/registry.ts';
import type { StreamContext } from '../../src/stream-handlers/stream-handler.ts';
import { DatagramBudget } from '../../src/wire/datagram-socket.ts';
import { encodeDialResult } from '../../src/wire/dial-result.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import type { OpenRequest } from '../../src/wire/open.ts';
import { socketPair } from '../../src/wire/socket-pair.ts';
import type { ByteSocket, OnDialled } from '../../src/wire/socket.ts';
import type { StreamHooks } from '../../src/wire/stream.ts';
import { eventually } from '../support/eventually.ts';

/** What the local end sends before anything else. */
function firstBytes(socket: ByteSocket): Promise<Buffer> {
  return new Promise((resolve) => {
    socket.attach({
      onData: (chunk) => resolve(Buffer.from(chunk)),
      onEnd: () => resolve(Buffer.alloc(0)),
      onDrain: () => undefined,
      onClose: () => undefined,
    });
  });
}

/** What a request does: the dials, how the stream is joined, and whether it holds the session. */
async function answerOf(request: OpenRequest, outcomes: Record<string, Error | ByteSocket> = {}) {
  const dials: string[] = [];
  let [held, released] = [0, 0];
  const served: unknown[] = [];
  const context: StreamContext = {
    sockets: {
      ...netBackend,
      dial: ({ host, port, timeoutMs }, onDialled: OnDialled) => {
        dials.push(`${host}:${port} ${timeoutMs}`);
        onDialled(outcomes[port] ?? new Error('not there'));
      },
    },
    datagrams: new DatagramBudget(),
    hold: () => {
      held++;
      return () => {
        released++;
      };
    },
    files: { serve: (_socket, site) => void served.push(site) },
    direct: { accept: (asked) => void served.push(asked) },
  };
  const joined: Array<{ readonly socket: ByteSocket; readonly options: StreamHooks | undefined }> = [];
  const stream = { id: 1, over: false, join: (socket: ByteSocket, options?: StreamHooks) => void joined.push({ socket, options }), reset: () => undefined };
  const error = await new Promise((resolve) => answerRequest(request, stream, context, resolve));
  const [join] = joined;
  const holds = held;
  join?.options?.onClose?.();
  return { error, dials, served, joined: joined.length, socket: join?.socket, credit: join?.options?.credit, holds, releases: released };
}

const by = 'tunnel 1';
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const socketOf = (): ByteSocket => socketPair({ remoteAddress: '192.0.2.1', remotePort: 7 })[0];

test('tcp joins the first target that answers, and holds the session until it closes', async () => {
  const socket = socketOf();
  const request: OpenRequest = { kind: 'tcp', by, targets: ['h:1', 'h:2', 'h:3'] };
  const answer = await answerOf(request, { 1: refused, 2: socket });
  expect(answer).toMatchObject({ error: undefined, dials: ['h:1 5000', 'h:2 5000'], joined: 1, credit: undefined, holds: 1, releases: 1 });
  expect(answer.socket).toBe(socket);
  expect(await answerOf({ ...request, targets: ['h:1'] }, { 1: refused })).toMatchObject({
    error: { message: 'h:1: connect ECONNREFUSED' },
    joined: 0,
    holds: 0,
  });
});

test('dial says how it went before the bytes of the target, with the timeout and the credit of the request', async () => {
  const request: OpenRequest = { kind: 'dial', by, targets: ['h:1', 'h:2'], timeoutMs: 77, credit: 16_384 };
  const connected = await answerOf(request, { 1: refused, 2: socketOf() });
  expect(connected).toMatchObject({ error: undefined, dials: ['h:1 77', 'h:2 77'], joined: 1, credit: 16_384, holds: 1, releases: 1 });
  if (!connected.socket) throw new Error('not joined');
  expect(await firstBytes(connected.socket)).toEqual(encodeDialResult('connected'));
  const failed = await answerOf(request, { 2: refused });
  expect(failed).toMatchObject({ error: undefined, joined: 1, credit: undefined, holds: 0, releases: 0 });
  if (!failed.socket) throw new Error('not joined');
  expect(await firstBytes(failed.socket)).toEqual(encodeDialResult('refused'));
});

test('probe says why the target cannot be dialed, within the timeout of the request', async () => {
  const failed = await answerOf({ kind: 'probe', target: 'h:1', timeoutMs: 88 }, { 1: refused });
  expect(failed).toMatchObject({ error: undefined, dials: ['h:1 88'], joined: 1, holds: 0 });
  if (!failed.socket) throw new Error('not joined');
  expect(String(await firstBytes(failed.socket))).toBe('h:1: connect ECONNREFUSED');
  let destroyed = false;
  const socket = Object.assign(socketOf(), { destroy: () => (destroyed = true) });
  const right = await answerOf({ kind: 'probe', target: 'h:2', timeoutMs: 88 }, { 2: socket });
  if (!right.socket) throw new Error('not joined');
  expect([String(await firstBytes(right.socket)), destroyed]).toEqual(['', true]);
});

test.each<OpenRequest>([{ kind: 'udp', by, targets: ['nonsense', '127.0.0.1:53'] }, { kind: 'udpAny' }])(
  'the UDP socket of %j is closed with the stream',
  async (request) => {
    const open = () => process.getActiveResourcesInfo().filter((name) => name === 'UDPWrap').length;
    const before = open();
    const { error, socket } = await answerOf(request);
    expect([error, open()]).toEqual([undefined, before + 1]);
    socket?.destroy();
    await eventually(open, (count) => count === before);
  },
);

test('file and direct pass on what was asked for; files hold the session', async () => {
  const file = await answerOf({ kind: 'file', by, path: '/a', stripPrefix: '/b' });
  expect(file).toMatchObject({ error: undefined, served: [{ path: '/a', stripPrefix: '/b' }], joined: 1, holds: 1, releases: 1 });
  const direct: OpenRequest = { kind: 'direct', tunnelId: 1, password: 'p', targets: ['h:1'], stunPorts: [2] };
  expect(await answerOf(direct)).toMatchObject({ error: undefined, served: [direct], joined: 0, holds: 0 });
});
