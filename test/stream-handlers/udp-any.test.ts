import { afterEach, expect, test } from '@jest/globals';
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

function named(name: string, { port }: UdpPeer): Buffer {
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
  session.send(Buffer.concat([named('localhost', target), Buffer.from('found')]));
  await eventually(() => [seen.answers.length, seen.dropped], ([answers, dropped]) => answers === 1 && dropped === 2);
  expect(seen.answers[0]).toMatchObject({ port: target.port, text: 'found' });
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
