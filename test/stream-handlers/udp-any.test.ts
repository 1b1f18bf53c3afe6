import dns from 'node:dns/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { answerRequest } from '../../src/stream-handlers/registry.ts';
import { DatagramBudget, DatagramSocket } from '../../src/wire/datagram-socket.ts';
import { Mux } from '../../src/wire/mux.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { decodeOpen, encodeOpen } from '../../src/wire/open.ts';
import { readSocksAddress, socksAddress } from '../../src/wire/socks-address.ts';
import { eventually } from '../support/eventually.ts';
import { udpEcho, type UdpPeer } from '../support/udp.ts';
import { socketPair } from '../support/wire.ts';

const muxes: Mux[] = [];

afterEach(() => muxes.splice(0).forEach((mux) => mux.close('the test is over')));

/** Datagrams with their addresses, through a session to an agent's answer. */
async function exchange() {
  const { dialed, accepted } = await socketPair();
  const seen = { answers: [] as Array<{ from: string; port: number; text: string }>, dropped: 0 };
  const context = { sockets: netBackend, datagrams: new DatagramBudget(), hold: () => () => undefined };
  const quiet = { onControl: () => undefined, onClose: () => undefined };
  const server = new Mux(accepted, 'server', { ...quiet, onOpen: (stream) => stream.reset() });
  muxes.push(
    server,
    new Mux(dialed, 'agent', {
      ...quiet,
      onOpen: (stream, payload) => {
        const request = decodeOpen(payload);
        if (request) answerRequest(request, stream, context, (error) => expect(error).toBeUndefined());
      },
    }),
  );
  const session = new DatagramSocket({
    remoteAddress: '',
    remotePort: 0,
    budget: new DatagramBudget(),
    onDatagram: (bytes) => {
      const from = readSocksAddress(bytes, 0);
      if (!from) throw new Error('an answer without an address');
      seen.answers.push({ from: from.host, port: from.port, text: bytes.toString('utf8', from.end) });
    },
    onPeerDropped: (count) => {
      seen.dropped += count;
    },
    onClose: () => undefined,
  });
  server.open(encodeOpen({ kind: 'udpAny' }))?.join(session);
  return { session, seen };
}

function named(name: string, { port }: Pick<UdpPeer, 'port'>): Buffer {
  return Buffer.from([3, name.length, ...Buffer.from(name), port >> 8, port & 0xff]);
}

test('each datagram goes where it says, and says where it came from', async () => {
  const [one, two] = [await udpEcho('one '), await udpEcho('two ')];
  const { session, seen } = await exchange();
  session.send(Buffer.concat([socksAddress('127.0.0.1', one.port), Buffer.from('a')]));
  session.send(Buffer.concat([socksAddress('127.0.0.1', two.port), Buffer.from('b')]));
  await eventually(() => seen.answers.length, (count) => count === 2);
  expect(seen.answers.toSorted((a, b) => a.text.localeCompare(b.text))).toEqual([
    { from: '127.0.0.1', port: one.port, text: 'one a' },
    { from: '127.0.0.1', port: two.port, text: 'two b' },
  ]);
  expect([one.senders, two.senders].map(({ length }) => length)).toEqual([1, 1]);
  expect(one.senders).toEqual(two.senders);
});

test('names are resolved by the agent; what leads nowhere is dropped and counted', async () => {
  const target = await udpEcho();
  const { session, seen } = await exchange();
  session.send(Buffer.concat([named('no-such-name.invalid', target), Buffer.from('lost')]));
  session.send(Buffer.from([9, 9, 9]));
  session.send(Buffer.concat([socksAddress('127.0.0.1', 0), Buffer.from('lost')]));
  session.send(Buffer.concat([named('localhost', target), Buffer.from('found')]));
  await eventually(() => [seen.answers.length, seen.dropped], ([answers, dropped]) => answers === 1 && dropped === 3);
  expect(seen.answers[0]).toMatchObject({ port: target.port, text: 'found' });
});

test('256 datagrams wait for their names, and 256 names are kept; each is looked up once', async () => {
  const ends: Array<(error: Error) => void> = [];
  const lookup = jest.spyOn(dns, 'lookup').mockImplementation(() => new Promise((_, reject) => ends.push(reject)));
  const { session, seen } = await exchange();
  const ask = (first: number, count: number): void => {
    for (let at = first; at < first + count; at++) session.send(named(`name-${at}.invalid`, { port: 53 }));
  };
  const end = async (dropped: number): Promise<number> => {
    for (const fail of ends.splice(0)) fail(new Error('there is no such name'));
    await eventually(() => seen.dropped, (count) => count === dropped);
    return lookup.mock.calls.length;
  };
  ask(0, 250);
  // They wait for the same answer.
  ask(249, 1);
  ask(250, 6);
  await eventually(() => seen.dropped, (count) => count === 1);
  expect(lookup.mock.calls.length).toBe(255);
  expect(await end(257)).toBe(255);
  ask(255, 2);
  await eventually(() => lookup.mock.calls.length, (count) => count === 257);
  // The first name goes, the second one stays.
  expect(await end(259)).toBe(257);
  ask(1, 1);
  ask(0, 1);
  await eventually(() => lookup.mock.calls.length, (count) => count > 257);
  expect(await end(261)).toBe(258);
  expect(lookup.mock.calls.at(-1)).toEqual(['name-0.invalid']);
  lookup.mockRestore();
});

test('a name is looked up again after 30 seconds', async () => {
  const lookup = jest.spyOn(dns, 'lookup').mockImplementation(() => Promise.reject(new Error('there is no such name')));
  const { session, seen } = await exchange();
  const start = performance.now();
  const now = jest.spyOn(performance, 'now');
  const lookups: number[] = [];
  for (const [index, ms] of [0, 29_999, 30_000].entries()) {
    now.mockReturnValue(start + ms);
    session.send(named('name.invalid', { port: 53 }));
    await eventually(() => seen.dropped, (count) => count === index + 1);
    lookups.push(lookup.mock.calls.length);
  }
  now.mockRestore();
  lookup.mockRestore();
  expect(lookups).toEqual([1, 1, 2]);
});

test('an address as SOCKS5 writes it is read back; half of one is none', () => {
  for (const [address, size] of [['192.0.2.7', 7], ['2001:db8::1', 19], ['::ffff:192.0.2.7', 7]] as const) {
    const bytes = socksAddress(address, 53);
    expect(bytes.length).toBe(size);
    expect(readSocksAddress(Buffer.concat([Buffer.alloc(3), bytes, Buffer.alloc(1)]), 3)).toMatchObject({
      host: address.replace('::ffff:', ''),
      port: 53,
      numeric: true,
      end: 3 + size,
    });
    for (let cut = 0; cut < size; cut++) expect(readSocksAddress(bytes.subarray(0, cut), 0)).toBeUndefined();
  }
  expect(readSocksAddress(Buffer.from([3, 1, 97, 0, 80]), 0)).toEqual({ host: 'a', port: 80, numeric: false, end: 5 });
  expect(readSocksAddress(Buffer.from([3, 0, 0, 80]), 0)).toBeUndefined();
});
