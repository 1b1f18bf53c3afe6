import { once } from 'node:events';
import net from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { PortHandles } from '../../src/processes/port-handles.ts';
import { listenOn } from '../../src/wire/listen-on.ts';
import { occupyPort, refusal, visit } from '../support/target.ts';

const servers: net.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

function handleOf(shared: ReturnType<PortHandles['share']>): object {
  if ('problem' in shared) throw new Error(shared.problem);
  return shared.handle;
}

test('a port is bound once for a purpose, accepts nothing here, and is free when the last process has left it', async () => {
  const handles = new PortHandles();
  const place = { purpose: 'api', host: '127.0.0.1', port: 0 };
  const handle = handleOf(handles.share(1, place));
  expect(handleOf(handles.share(2, place))).toBe(handle);
  expect(handles.share(1, place)).toEqual({ problem: 'EADDRINUSE' });
  expect(handleOf(handles.share(1, { ...place, purpose: 'bridge' }))).not.toBe(handle);
  const server = net.createServer((socket) => socket.end());
  servers.push(server);
  await listenOn(server, { host: '127.0.0.1', port: 0, share: () => Promise.resolve(handle) });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  await once(await visit(address.port), 'end');
  handles.unshare(1, place);
  // Another part of the program does not get it, whatever it asks for.
  expect(handles.share(3, { ...place, purpose: 'tunnel', port: address.port })).toEqual({ problem: 'EADDRINUSE' });
  expect(await refusal(address.port)).toBe('');
  handles.ended(2);
  expect(await refusal(address.port)).toBe('ECONNREFUSED');
  const again = { ...place, purpose: 'tunnel', port: address.port };
  handleOf(handles.share(3, again));
  handles.unshare(3, again);
});

test('a port that one process opens itself is not for others, also while that process is started again', async () => {
  const { port, release } = await occupyPort('127.0.0.1');
  await release();
  const place = { purpose: 'tunnel', host: '127.0.0.1', port };
  expect(new PortHandles([port]).share(1, place)).toEqual({ problem: 'EADDRINUSE' });
  const handles = new PortHandles([port + 1]);
  handleOf(handles.share(1, place));
  handles.ended(1);
});

test('a port of another program, or an address of another machine, is refused with the error of the system', async () => {
  const handles = new PortHandles();
  const { port, release } = await occupyPort('127.0.0.1');
  for (const host of ['127.0.0.1', '']) expect(handles.share(1, { purpose: 'api', host, port })).toEqual({ problem: 'EADDRINUSE' });
  expect(handles.share(1, { purpose: 'api', host: '192.0.2.1', port })).toEqual({ problem: 'EADDRNOTAVAIL' });
  await release();
  for (const host of ['127.0.0.1', '', '::1']) {
    const place = { purpose: 'api', host, port };
    handleOf(handles.share(1, place));
    handles.unshare(1, place);
  }
});
