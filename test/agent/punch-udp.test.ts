import dgram from 'node:dgram';
import { once } from 'node:events';
import os from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { Candidates } from '../../src/agent/direct/candidates.ts';
import { PathKey, Probe, type ProbeKind } from '../../src/agent/direct/path-key.ts';
import { punchUdp } from '../../src/agent/direct/punch-udp.ts';
import { Signal } from '../../src/agent/direct/signal.ts';
import { loadUdx } from '../../src/agent/direct/udx.ts';
import { MAX_CANDIDATES } from '../../src/wire/direct-messages.ts';
import { stunMapped, stunRequest, stunResponse } from '../../src/wire/stun.ts';
import { eventually } from '../support/eventually.ts';

test.each([['127.0.0.1', 4], ['::1', 6]] as const)('a server at %s is asked for the public address', async (host, family) => {
  const udx = await loadUdx();
  if (!udx) throw new Error('this machine has no UDX');
  const server = dgram.createSocket(family === 4 ? 'udp4' : 'udp6').bind(0, host);
  await once(server, 'listening');
  const signal = new Signal();
  const key = new PathKey('visitor', 'a password', { visitor: '11'.repeat(32), agent: '22'.repeat(32) });
  const attempt = punchUdp(udx, { ours: 1, theirs: 1 }, 1000, {
    role: 'visitor',
    key,
    signal,
    timeoutMs: 60_000,
    stun: { host, family, ports: [server.address().port] },
  });
  const outcome = attempt.then(() => 'open', String);
  const [request]: Buffer[] = await once(server, 'message');
  // It is one that such a server answers.
  expect(stunResponse(request ?? Buffer.alloc(0), { host, port: 7 })).toBeDefined();
  expect(stunMapped(Buffer.alloc(0), stunRequest())).toBeUndefined();
  signal.destroy();
  expect(await outcome).toContain('the peer ended the attempt');
  server.close();
});

test('the peer learns the public address, and those of the machine with the port of the socket', async () => {
  const udx = await loadUdx();
  if (!udx) throw new Error('this machine has no UDX');
  const server = dgram.createSocket('udp4').bind(0, '127.0.0.1');
  await once(server, 'listening');
  const signal = new Signal();
  const sent = new Promise<string>((resolve) =>
    signal.attach({
      onData: (line) => String(line).includes('candidates') && resolve(String(line)),
      onEnd: () => undefined,
      onDrain: () => undefined,
      onClose: () => undefined,
    })
  );
  const key = new PathKey('visitor', 'a password', { visitor: '11'.repeat(32), agent: '22'.repeat(32) });
  const stun = { host: '127.0.0.1', family: 4, ports: [server.address().port] } as const;
  const outcome = punchUdp(udx, { ours: 1, theirs: 1 }, 1000, { role: 'visitor', key, signal, timeoutMs: 60_000, stun }).then(() => 'open', String);
  const port = await new Promise<number>((resolve) => {
    server.once('message', (request, from) => {
      // As behind a NAT: another address and port than the machine's own.
      server.send(stunResponse(request, { host: '203.0.113.7', port: 4444 }) ?? '', from.port, from.address);
      resolve(from.port);
    });
  });
  const own = Object.values(os.networkInterfaces()).flatMap((list) => list ?? []).filter(({ internal, family }) => !internal && family === 'IPv4');
  expect(JSON.parse(await sent)).toEqual({
    type: 'candidates',
    candidates: [{ host: '203.0.113.7', port: 4444 }, ...own.map(({ address }) => ({ host: address, port }))].slice(0, MAX_CANDIDATES),
  });
  signal.destroy();
  await outcome;
  server.close();
});

/** An attempt of one side, whose peer the test is: `theirs` makes its probes. */
async function punching(role: 'visitor' | 'agent') {
  const udx = await loadUdx();
  if (!udx) throw new Error('this machine has no UDX');
  const [server, peer] = [dgram.createSocket('udp4').bind(0, '127.0.0.1'), dgram.createSocket('udp4').bind(0, '127.0.0.1')];
  await Promise.all([once(server, 'listening'), once(peer, 'listening')]);
  const signal = new Signal();
  const nonces = { visitor: '11'.repeat(32), agent: '22'.repeat(32) };
  const stun = { host: '127.0.0.1', family: 4, ports: [server.address().port] } as const;
  const attempt = punchUdp(udx, { ours: 1, theirs: 1 }, 1000, { role, key: new PathKey(role, 'a password', nonces), signal, timeoutMs: 60_000, stun });
  signal.write(Buffer.from(`{"type":"hello","nonce":"${'ab'.repeat(32)}","ways":["udp"],"streamId":1,"stunPorts":[]}\n`));
  await signal.receive('hello');
  signal.write(Buffer.from('{"type":"candidates","candidates":[{"host":"203.0.113.9","port":9}]}\n'));
  const port = await new Promise<number>((resolve) => server.once('message', (_request, from) => resolve(from.port)));
  const theirs = new PathKey(role === 'visitor' ? 'agent' : 'visitor', 'a password', nonces);
  const send = (kind: ProbeKind, from = peer, sent?: (error: Error | null) => void): void => from.send(theirs.probe(kind), port, '127.0.0.1', sent);
  const answer = async (kind: ProbeKind): Promise<ProbeKind | undefined> => {
    send(kind);
    const [message]: Buffer[] = await once(peer, 'message');
    return theirs.read(message ?? Buffer.alloc(0));
  };
  const close = (): void => {
    server.close();
    peer.close();
  };
  return { attempt, signal, peer, theirs, send, answer, close };
}

test('the visitor chooses the address that answered, not the first one that the peer named', async () => {
  const { attempt, signal, peer, send, answer, close } = await punching('visitor');
  const outcome = attempt.then(() => 'open', String);
  expect(await answer(Probe.ANSWER)).toBe(Probe.CHOOSE);
  // The first one, which is repeated until the agent confirms it.
  const other = dgram.createSocket('udp4').bind(0, '127.0.0.1');
  await once(other, 'listening');
  send(Probe.ANSWER, other);
  const again = async (): Promise<string> => {
    for (let time = 0; time < 3; time++) await once(peer, 'message');
    return 'the first';
  };
  expect(await Promise.race([once(other, 'message').then(() => 'the other'), again()])).toBe('the first');
  other.close();
  signal.destroy();
  expect(await outcome).toContain('the peer ended the attempt');
  close();
});

test('the agent confirms the address that the visitor chose', async () => {
  const { attempt, signal, send, answer, close } = await punching('agent');
  expect(await answer(Probe.CHOOSE)).toBe(Probe.CHOSEN);
  const { raw, peer, heardOutOfBand } = await attempt;
  expect(peer.host).toBe('127.0.0.1');
  // Only the address on the path keeps it alive.
  const other = dgram.createSocket('udp4').bind(0, '127.0.0.1');
  await once(other, 'listening');
  await new Promise((resolve) => send(Probe.ALIVE, other, resolve));
  while (await answer(Probe.ASK) !== Probe.ANSWER);
  expect(heardOutOfBand()).toBe(0);
  send(Probe.ALIVE);
  await eventually(heardOutOfBand, (at) => at > 0);
  other.close();
  raw.destroy();
  signal.destroy();
  close();
});

const [outside] = Object.values(os.networkInterfaces()).flatMap((list) => list ?? []).filter(({ internal, family }) => !internal && family === 'IPv4');

(outside ? describe : describe.skip)(`an address that no peer has named${outside ? '' : ' (skipped: this machine has loopback addresses only)'}`, () => {
  test('is asked, too, when a probe comes from it', async () => {
    const { attempt, signal, theirs, send, close } = await punching('agent');
    const outcome = attempt.then(() => 'open', String);
    const other = dgram.createSocket('udp4').bind(0, outside?.address);
    await once(other, 'listening');
    const kinds: unknown[] = [];
    other.on('message', (message) => kinds.push(theirs.read(message)));
    send(Probe.ASK, other);
    expect((await eventually(() => kinds, ({ length }) => length >= 2)).slice(0, 2)).toEqual([Probe.ANSWER, Probe.ASK]);
    other.close();
    signal.destroy();
    await outcome;
    close();
  });
});

test('beside eight addresses that the peer has named, eight that its packets come from are tried, each once, if packets may be sent there', () => {
  const candidates = new Candidates(4);
  const named = Array.from({ length: 8 }, (_, index) => ({ host: `203.0.113.${index}`, port: 9 }));
  expect(named.map((one) => candidates.add(one))).toEqual(Array(8).fill(true));
  const others = [...named.slice(0, 7).map(({ host }) => ({ host, port: 10 })), { host: '198.51.100.1', port: 9 }];
  const refused = [named[7], { host: '127.0.0.1', port: 9 }, { host: '::1', port: 9 }, { host: '2001:db8::1', port: 9 }].map((one) =>
    one && candidates.add(one)
  );
  expect(refused).toEqual([false, false, false, false]);
  expect(others.map((one) => candidates.add(one))).toEqual(Array(8).fill(true));
  expect(candidates.add({ host: '198.51.100.2', port: 9 })).toBe(false);
  expect([...candidates]).toEqual([...named, ...others]);
});
