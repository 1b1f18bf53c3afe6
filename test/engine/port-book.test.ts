import { expect, test } from '@jest/globals';
import { listenProblem } from '../../src/engine/ports/listen-error.ts';
import { PortBook, PortUnavailableError } from '../../src/engine/ports/port-book.ts';
import { bindFreePort } from '../../src/engine/ports/reserve-port.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { environmentOf } from '../support/environment.ts';

/** A TCP port on an address. */
const at = (port: number, serverIp = '') => ({ transport: 'tcp', port, serverIp }) as const;

/** What a tunnel claims there. */
const claim = (id: number, port: number, { serverIp = '', enabled = true, mode = 'tcp' } = {}) => ({ id, mode, enabled, port, serverIp });

const book = (text: ReadonlyArray<readonly [number, number]> = []) => new PortBook(text.map(([from, to]) => ({ from, to })));

test('a port outside the allowed ranges is refused by name', () => {
  expect(() => book([[9001, 9009]]).check(at(9010))).toThrow(new PortUnavailableError('port 9010 is not among the allowed ports'));
  expect(() => book([[9001, 9009]]).check(at(9009))).not.toThrow();
});

test.each([-1, 0, 65536, 1.5, Number.NaN])('%p is no port', (port) => {
  expect(() => book().check(at(port))).toThrow(PortUnavailableError);
});

test('a server address must be an IP address', () => {
  expect(() => book().check(at(9001, 'example.com'))).toThrow(/is not an IP address/);
  expect(() => book().check(at(9001, '::1'))).not.toThrow();
});

test('a port claimed by an enabled tunnel is refused on overlapping addresses only', () => {
  const ports = book();
  ports.claim(claim(7, 9001, { serverIp: '127.0.0.1' }));
  expect(() => ports.check(at(9001, '127.0.0.1'))).toThrow(/held by another tunnel/);
  expect(() => ports.check(at(9001))).toThrow(/held by another tunnel/);
  expect(() => ports.check(at(9001, '0.0.0.0'))).toThrow(/held by another tunnel/);
  expect(() => ports.check(at(9001, '127.0.0.2'))).not.toThrow();
  expect(() => ports.check(at(9001, '127.0.0.1'), 7)).not.toThrow();
  ports.unclaim(7, 9001);
  expect(() => ports.check(at(9001, '127.0.0.1'))).not.toThrow();
});

test('the same port can be used for TCP and for UDP', () => {
  const ports = book();
  ports.claim(claim(7, 9001));
  expect(() => ports.check({ ...at(9001), transport: 'udp' })).not.toThrow();
  expect(() => ports.check(at(9001))).toThrow(/held by another tunnel/);
});

test('candidates are every unclaimed allowed port, once each, from a random one on', () => {
  const ports = book([[9001, 9003], [9010, 9011]]);
  ports.claim(claim(1, 9010));
  expect([...ports.candidates('tcp', '', () => 0)]).toEqual([9001, 9002, 9003, 9011]);
  expect([...ports.candidates('tcp', '', () => 0.5)]).toEqual([9003, 9011, 9001, 9002]);
});

test('without a restriction candidates lie between 1024 and 65534', () => {
  const all = [...book().candidates('tcp', '', () => 0.999)];
  expect(all).toHaveLength(65534 - 1024 + 1);
  expect(Math.min(...all)).toBe(1024);
  expect(Math.max(...all)).toBe(65534);
});

test('ports of stopped tunnels are candidates if there are no others, and are assigned on request', () => {
  const ports = book([[9001, 9004]]);
  ports.claim(claim(1, 9001, { enabled: false }));
  ports.claim(claim(2, 9002, { serverIp: '127.0.0.1', enabled: false }));
  ports.claim(claim(3, 9003));
  expect([...ports.candidates('tcp', '', () => 0)]).toEqual([9004, 9001, 9002]);
  expect([...ports.candidates('udp', '', () => 0)]).toEqual([9001, 9002, 9003, 9004]);
  expect([...ports.candidates('tcp', '127.0.0.2', () => 0)]).toEqual([9002, 9004, 9001]);
  expect(() => ports.check(at(9001))).not.toThrow();
  ports.unclaim(1, 9001);
  expect([...ports.candidates('tcp', '', () => 0)]).toEqual([9001, 9004, 9002]);
});

test('several tunnels can hold one port on addresses of their own, until each gives it up; a claim replaces the former one of its tunnel', () => {
  const ports = book();
  const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
  for (const [index, serverIp] of addresses.entries()) ports.claim(claim(index + 1, 9001, { serverIp }));
  ports.claim(claim(4, 9001, { mode: 'udp', serverIp: '127.0.0.2' }));
  const holders = () => addresses.map((serverIp) => ports.holder(at(9001, serverIp)));
  expect([holders(), ports.holder({ transport: 'udp', port: 9001, serverIp: '' })]).toEqual([[1, 2, 3], 4]);
  ports.claim(claim(2, 9001, { serverIp: '127.0.0.2', enabled: false }));
  expect(holders()).toEqual([1, undefined, 3]);
  ports.claim(claim(2, 9001, { serverIp: '127.0.0.2' }));
  for (const [id, left] of [[1, [undefined, 2, 3]], [3, [undefined, 2, undefined]], [2, [undefined, undefined, undefined]]] as const) {
    ports.unclaim(id, 9001);
    ports.unclaim(id, 9002);
    expect(holders()).toEqual(left);
  }
  ports.unclaim(4, 9001);
  expect(ports.holder({ transport: 'udp', port: 9001, serverIp: '' })).toBeUndefined();
  ports.claim(claim(5, 9001));
  ports.claim(claim(5, 9001, { enabled: false }));
  ports.unclaim(6, 9001);
  expect(ports.holder(at(9001))).toBeUndefined();
  ports.claim(claim(5, 9001));
  expect(() => ports.check(at(9001))).toThrow(expect.objectContaining({ holder: 5 }));
});

const systemError = (code: string) => Object.assign(new Error(`bind ${code}`), { code });

test.each([
  ['EADDRINUSE', 1000, 'none of the allowed ports is free'],
  ['EACCES', 1000, 'none of the allowed ports is free'],
  ['EADDRNOTAVAIL', 1, 'address 192.0.2.1 does not belong to this machine'],
])('of ports that cannot be bound by %s, %i are tried', async (code, most, problem) => {
  let tries = 0;
  const listen = async () => {
    tries++;
    throw systemError(code);
  };
  const reserver = environmentOf({ sockets: { ...netBackend, listen } });
  await expect(bindFreePort(reserver, { transport: 'tcp', serverIp: '192.0.2.1' })).rejects.toThrow(problem);
  expect(tries).toBe(most);
});

test.each([
  ['EADDRINUSE', 'port 80 is occupied', 'bind EADDRINUSE'],
  ['EACCES', 'port 80 needs rights that the server does not have', 'bind EACCES'],
  ['EADDRNOTAVAIL', 'address 192.0.2.1 does not belong to this machine', undefined],
  ['EAFNOSUPPORT', 'address 192.0.2.1 is of a family that this machine lacks', undefined],
  ['EINVAL', 'port 80 cannot be opened: bind EINVAL', 'bind EINVAL'],
])('why a port cannot be opened (%s), also before one is chosen', (code, problem, withoutPort = problem) => {
  expect([80, undefined].map((port) => listenProblem(systemError(code), '192.0.2.1', port))).toEqual([problem, withoutPort]);
});
