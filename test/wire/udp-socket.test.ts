import dgram from 'node:dgram';
import { expect, jest, test } from '@jest/globals';
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

test('256 KB may wait to be sent; what comes beyond is dropped', async () => {
  const [socket, peer] = [await UdpSocket.bind({ host: '127.0.0.1', port: 0 }), await UdpSocket.bind({ host: '127.0.0.1', port: 0 })];
  const waiting = jest.spyOn(dgram.Socket.prototype, 'getSendQueueSize');
  let dropped = 0;
  socket.serve({ onDatagram: () => undefined, onDropped: () => dropped++ });
  const arrived = new Promise((resolve) => {
    peer.serve({ onDatagram: (bytes, from) => resolve([String(bytes), from.port, from.address]) });
  });
  for (const [bytes, text] of [[262_145, 'too much'], [262_144, 'enough']] as const) {
    waiting.mockReturnValueOnce(bytes);
    socket.send(Buffer.from(text), peer.local);
  }
  waiting.mockRestore();
  expect([await arrived, dropped]).toEqual([['enough', socket.local.port, '127.0.0.1'], 1]);
  await Promise.all([socket.close(), peer.close()]);
});

test('a datagram that the system refuses is dropped; only that nobody listens at the other end is an error of the socket', async () => {
  for (const [code, seen] of [['ECONNREFUSED', ['dropped', 'ECONNREFUSED']], ['EMSGSIZE', ['dropped']]] as const) {
    const socket = await UdpSocket.bind({ host: '127.0.0.1', port: 0 });
    const reported: unknown[] = [];
    socket.serve({ onDatagram: () => undefined, onDropped: () => reported.push('dropped'), onError: (error) => reported.push(Reflect.get(error, 'code')) });
    const sent = jest.spyOn(dgram.Socket.prototype, 'send');
    socket.send(Buffer.from('x'), socket.local);
    const done: unknown = sent.mock.lastCall?.at(-1);
    sent.mockRestore();
    if (typeof done !== 'function') throw new Error('the system says what became of a datagram');
    done(Object.assign(new Error(code), { code }));
    done(null);
    expect(reported).toEqual(seen);
    await socket.close();
  }
});

test('more datagrams wait for the program than those of other sockets', async () => {
  const created = jest.spyOn(dgram, 'createSocket');
  const plain = dgram.createSocket('udp4').bind(0, '127.0.0.1');
  await new Promise((resolve) => plain.once('listening', resolve));
  const sockets = [await UdpSocket.bind({ host: '127.0.0.1', port: 0 }), await UdpSocket.connect(plain.address())];
  const [usual = 0, ...ours] = created.mock.results.map(({ value }) => (value instanceof dgram.Socket ? value.getRecvBufferSize() : 0));
  created.mockRestore();
  expect(ours.filter((bytes) => bytes > usual)).toEqual(ours);
  expect(ours.length).toBe(2);
  for (const socket of sockets) await socket.close();
  plain.close();
});

test('a socket reports every error of the system, and is open after it', async () => {
  const created = jest.spyOn(dgram, 'createSocket');
  const socket = await UdpSocket.bind({ host: '127.0.0.1', port: 0 });
  const [inner] = created.mock.results.map(({ value }): unknown => value);
  created.mockRestore();
  if (!(inner instanceof dgram.Socket)) throw new Error('it is one of Node');
  const reported: unknown[] = [];
  const echoed = new Promise<string>((resolve) => {
    socket.serve({ onDatagram: (bytes) => resolve(bytes.toString()), onError: ({ message }) => reported.push(message) });
  });
  for (const message of ['one', 'two']) inner.emit('error', new Error(message));
  socket.send(Buffer.from('x'), socket.local);
  expect([await echoed, reported]).toEqual(['x', ['one', 'two']]);
  await socket.close();
});

test('an IPv6 socket needs IPv4 addresses mapped, others none', async () => {
  const [four, six] = [await UdpSocket.bind({ host: '127.0.0.1', port: 0 }), await UdpSocket.bind({ host: '::1', port: 0 })];
  expect(['192.0.2.1', '2001:db8::1'].map((address) => [four.reachable(address), six.reachable(address)]))
    .toEqual([['192.0.2.1', '::ffff:192.0.2.1'], ['2001:db8::1', '2001:db8::1']]);
  await Promise.all([four.close(), six.close()]);
});

test.each([['EAFNOSUPPORT', '0.0.0.0'], ['EADDRNOTAVAIL', '0.0.0.0'], ['EPROTONOSUPPORT', '0.0.0.0'], ['EINVAL', '0.0.0.0'], ['EADDRINUSE', 'EADDRINUSE']])(
  'on a machine where a socket of both families fails with %s, all addresses are %s',
  async (code, outcome) => {
    const create = jest.spyOn(dgram, 'createSocket');
    const bind = jest.spyOn(dgram.Socket.prototype, 'bind').mockImplementationOnce(function(this: dgram.Socket) {
      setImmediate(() => this.emit('error', Object.assign(new Error(code), { code })));
      return this;
    });
    const bound = await UdpSocket.bind({ host: '', port: 0 }).catch((error: { code: string }) => error);
    expect('code' in bound ? bound.code : bound.local.address).toBe(outcome);
    // What arrives while the event loop is busy waits in the kernel.
    expect(create.mock.calls[0]).toEqual([expect.objectContaining({ type: 'udp6', recvBufferSize: 1024 * 1024 })]);
    for (const spy of [create, bind]) spy.mockRestore();
    if (bound instanceof UdpSocket) await bound.close();
  },
);

test.each([['bound', 'bind'], ['connected', 'connect']] as const)('a socket that cannot be %s is closed', async (_, name) => {
  const close = jest.spyOn(dgram.Socket.prototype, 'close');
  const failing = jest.spyOn(dgram.Socket.prototype, name).mockImplementationOnce(function(this: dgram.Socket) {
    setImmediate(() => this.emit('error', Object.assign(new Error('why'), { code: 'EACCES' })));
    return this;
  });
  const place = { address: '127.0.0.1', host: '127.0.0.1', port: 9 };
  await expect(name === 'bind' ? UdpSocket.bind(place) : UdpSocket.connect(place)).rejects.toMatchObject({ code: 'EACCES' });
  expect(close).toHaveBeenCalledTimes(1);
  for (const spy of [close, failing]) spy.mockRestore();
});
