import dns from 'node:dns/promises';
import { expect, jest, test } from '@jest/globals';
import { DIAL_TIMEOUTS, SHORT_TIMEOUTS } from '../../src/agent/dial-bridge.ts';
import { KnownServers } from '../../src/agent/known-servers.ts';
import { formatServerList, parseServerList } from '../../src/rules/server-list.ts';

const known = (given: string, overTls = false, random = () => 0) => new KnownServers(parseServerList(given) ?? [], overTls, random);
const order = async (servers: KnownServers) => formatServerList((await servers.inOrder()).servers);
const others = [{ host: '192.0.2.3', port: 3, tlsPort: 33 }, { host: '2001:db8::4', port: 4, tlsPort: 44 }];

test('those that were given come first and in their order, then those that a server has reported, in random order', async () => {
  const servers = known('192.0.2.1:1,192.0.2.2:2');
  expect(await order(servers)).toBe('192.0.2.1:1,192.0.2.2:2');
  servers.tell({ servers: others, here: false });
  expect(await order(servers)).toBe('192.0.2.1:1,192.0.2.2:2,192.0.2.3:3,[2001:db8::4]:4');
  const falling = [0.9, 0.1];
  const shuffled = known('192.0.2.1:1', false, () => falling.shift() ?? 0);
  shuffled.tell({ servers: others, here: false });
  expect(await order(shuffled)).toBe('192.0.2.1:1,[2001:db8::4]:4,192.0.2.3:3');
  // What it tells next replaces that.
  servers.tell({ servers: [{ host: '192.0.2.2', port: 2, tlsPort: 22 }], here: false });
  expect(await order(servers)).toBe('192.0.2.1:1,192.0.2.2:2');
});

test('an agent that goes over TLS uses the TLS ports of the others', async () => {
  const servers = known('192.0.2.1:1', true);
  servers.tell({ servers: others, here: false });
  expect(await order(servers)).toBe('192.0.2.1:1,192.0.2.3:33,[2001:db8::4]:44');
});

test('one that failed comes last, until it was reached or all have failed', async () => {
  const servers = known('192.0.2.1:1,192.0.2.2:2');
  const [first = { host: '', port: 0 }] = parseServerList('192.0.2.1:1') ?? [];
  servers.failed(first);
  expect(await order(servers)).toBe('192.0.2.2:2,192.0.2.1:1');
  servers.reached(first);
  expect(await order(servers)).toBe('192.0.2.1:1,192.0.2.2:2');
  servers.failed(first);
  servers.allFailed();
  expect(await order(servers)).toBe('192.0.2.1:1,192.0.2.2:2');
});

test('one that failed, was gone from the list, and is there again has not failed', async () => {
  const servers = known('192.0.2.1:1');
  const [third = { host: '', port: 0 }] = others;
  servers.tell({ servers: others, here: false });
  servers.failed(third);
  expect(await order(servers)).toBe('192.0.2.1:1,[2001:db8::4]:4,192.0.2.3:3');
  servers.tell({ servers: [], here: false });
  await servers.inOrder();
  servers.tell({ servers: others, here: false });
  expect(await order(servers)).toBe('192.0.2.1:1,192.0.2.3:3,[2001:db8::4]:4');
});

test('it waits longer for each when all have failed, and for one that is alone', async () => {
  const timeouts = async (servers: KnownServers) => (await servers.inOrder()).timeouts;
  const servers = known('192.0.2.1:1,192.0.2.2:2');
  expect(await timeouts(servers)).toBe(SHORT_TIMEOUTS);
  servers.allFailed();
  expect(await timeouts(servers)).toBe(DIAL_TIMEOUTS);
  servers.reached({ host: '192.0.2.1', port: 1 });
  expect(await timeouts(servers)).toBe(SHORT_TIMEOUTS);
  expect(await timeouts(known('192.0.2.1:1'))).toBe(DIAL_TIMEOUTS);
});

test('a name stands for all of its addresses; one that leads nowhere stays as it is', async () => {
  const addresses = (await dns.lookup('localhost', { all: true })).map(({ address }) => address);
  expect(await order(known('localhost:1'))).toBe(
    addresses.length > 1 ? formatServerList(addresses.map((host) => ({ host, port: 1 }))) : 'localhost:1',
  );
  expect(await order(known('no-such-host.invalid:1,192.0.2.2:2'))).toBe('no-such-host.invalid:1,192.0.2.2:2');
});

test('a name with many addresses stands for 16 of them, and one that the resolver is silent about is not waited for', async () => {
  const addresses = Array.from({ length: 17 }, (_, at) => ({ address: `192.0.2.${at + 1}`, family: 4 }));
  // The overload with `all` is not the one that TypeScript sees.
  const lookup = jest.spyOn(dns, 'lookup').mockImplementation((name: string): Promise<never> =>
    name === 'many.example' ? Promise.resolve<never>(Object.assign(addresses)) : new Promise(() => undefined)
  );
  expect(await order(known('many.example:1,silent.example:2'))).toBe(
    [...addresses.slice(0, 16).map(({ address }) => `${address}:1`), 'silent.example:2'].join(','),
  );
  lookup.mockRestore();
});

test('one that is alone has others if it says that they are at its address', () => {
  const servers = known('192.0.2.1:1');
  servers.tell({ servers: [], here: true });
  expect([servers.several, servers.severalHere]).toEqual([true, true]);
  servers.tell({ servers: [], here: false });
  expect([servers.several, servers.severalHere]).toEqual([false, false]);
});
