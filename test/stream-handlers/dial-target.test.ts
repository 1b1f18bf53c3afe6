import net from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import { dial } from '../../src/stream-handlers/dial-target.ts';
import { netBackend } from '../../src/wire/net-socket.ts';

const servers: net.Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

async function port(): Promise<number> {
  const server = net.createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function refusedPort(): Promise<number> {
  const free = await port();
  await new Promise((done) => servers.pop()?.close(done));
  return free;
}

test('the first target that answers is taken, one that refuses or is malformed is skipped', async () => {
  const [first, second, refused] = [await port(), await port(), await refusedPort()];
  const socket = await dial(netBackend, [`127.0.0.1:${refused}`, 'nonsense', `127.0.0.1:${second}`, `127.0.0.1:${first}`]);
  expect(socket.remotePort).toBe(second);
  socket.destroy();
});

test('a bare port means this machine', async () => {
  const own = await port();
  const socket = await dial(netBackend, [`${own}`]);
  expect([socket.remoteAddress, socket.remotePort]).toEqual(['127.0.0.1', own]);
  socket.destroy();
});

test('when none answers the error names every target', async () => {
  const [refused, other] = [await refusedPort(), await refusedPort()];
  await expect(dial(netBackend, [`127.0.0.1:${refused}`, `127.0.0.1:${other}`, 'x:y'])).rejects.toMatchObject({
    name: 'NoTargetError',
    message: `${[refused, other].map((at) => `127.0.0.1:${at}: connect ECONNREFUSED 127.0.0.1:${at}`).join('; ')}; "x:y" is not a target`,
    cause: { code: 'ECONNREFUSED' },
  });
});

test('a target that never answers is left after the time limit', async () => {
  const answering = await port();
  const silent: typeof netBackend = {
    ...netBackend,
    dial: (options, onDialled) => {
      if (options.port === 1) setTimeout(onDialled, options.timeoutMs, new Error('late'));
      else netBackend.dial(options, onDialled);
    },
  };
  const socket = await dial(silent, ['127.0.0.1:1', `127.0.0.1:${answering}`], 20);
  expect(socket.remotePort).toBe(answering);
  socket.destroy();
});
