import { once } from 'node:events';
import net from 'node:net';
import v8 from 'node:v8';
import vm from 'node:vm';
import { setImmediate as nextIteration, setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { ownCandidates } from '../../src/agent/direct/candidates.ts';
import { PathKey, Probe } from '../../src/agent/direct/path-key.ts';
import { punchTcp } from '../../src/agent/direct/punch-tcp.ts';
import { Signal } from '../../src/agent/direct/signal.ts';
import { stunResponse } from '../../src/wire/stun.ts';
import { describeWithIpv6 } from '../support/programs.ts';

v8.setFlagsFromString('--expose-gc');
const gc: unknown = vm.runInNewContext('gc');
/** Collects garbage. */
function collect(): void {
  if (typeof gc === 'function') Reflect.apply(gc, undefined, []);
}

/** Begins an attempt whose server accepts the connection and says nothing. @returns what comes of it */
async function attempt(signal: Signal, timeoutMs: number) {
  const silent = net.createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  if (typeof address !== 'object' || !address) throw new Error('it does not listen');
  const nonces = { visitor: '11'.repeat(32), agent: '22'.repeat(32) };
  const outcome = punchTcp({
    role: 'visitor',
    key: new PathKey('visitor', 'a password', nonces),
    signal,
    timeoutMs,
    stun: { host: '127.0.0.1', family: 4, ports: [address.port] },
  }).then(() => 'open', (error: unknown) => String(error)).finally(() => silent.close());
  return { outcome, connected: once(silent, 'connection') };
}

test('an attempt ends with its timeout, although garbage is collected meanwhile', async () => {
  const { outcome } = await attempt(new Signal(), 500);
  const collecting = setInterval(collect, 50);
  try {
    expect(await Promise.race([outcome, delay(10_000, 'it goes on')])).toMatch(/NoPathError: no TCP connection of the peer arrives/);
  } finally {
    clearInterval(collecting);
  }
});

test('an attempt ends when the visitor is stopped', async () => {
  const signal = new Signal();
  const { outcome, connected } = await attempt(signal, 60_000);
  await connected;
  signal.destroy();
  expect(await Promise.race([outcome, delay(10_000, 'it goes on')])).toMatch(/NoPathError/);
});

describeWithIpv6('a server that is reached over IPv6', () => {
  test('says the address from there', async () => {
    const stun = net.createServer((socket) => {
      socket.once('data', (request) => socket.end(stunResponse(request, { host: '2001:db8::1', port: 7 }) ?? ''));
    }).listen(0, '::1');
    await once(stun, 'listening');
    const { port } = z.object({ port: z.number() }).parse(stun.address());
    const signal = new Signal();
    const said = new Promise<string>((resolve) => {
      signal.attach({ onData: (line) => resolve(String(line)), onEnd: () => undefined, onDrain: () => undefined, onClose: () => undefined });
    });
    const nonces = { visitor: '11'.repeat(32), agent: '22'.repeat(32) };
    const outcome = punchTcp({
      role: 'visitor',
      key: new PathKey('visitor', 'a password', nonces),
      signal,
      timeoutMs: 60_000,
      stun: { host: '::1', family: 6, ports: [port] },
    }).catch((error: unknown) => String(error));
    expect(await Promise.race([said, outcome])).toContain('"candidates":[{"host":"2001:db8::1","port":7}');
    signal.destroy();
    expect(await outcome).toMatch(/NoPathError/);
    stun.close();
  });
});

test.each([
  ['that knows the password', 'a password', 0, /^open$/],
  ['that ends the first connection', 'a password', 1, /^open$/],
  ['that does not know the password', 'another password', 0, /NoPathError: no TCP connection of the peer arrives/],
])('a peer %s is found or not, at an address that is not this machine alone', async (_, password, ended, expected) => {
  const stun = net.createServer((socket) => {
    socket.setNoDelay().once('data', async (request) => {
      const answer = stunResponse(request, { host: '192.0.2.1', port: 1 }) ?? Buffer.alloc(0);
      socket.write(answer.subarray(0, 21));
      for (let passed = 0; passed < 2; passed++) await nextIteration(); // the first piece is read
      socket.write(answer.subarray(21));
    });
  }).listen(0, '127.0.0.1');
  const nonces = { visitor: '11'.repeat(32), agent: '22'.repeat(32) };
  let left = ended;
  const theirs = new PathKey('agent', password, nonces);
  const peer = net.createServer((socket) => {
    socket.on('error', () => undefined);
    if (left-- > 0) socket.end();
    else socket.write(theirs.probe(Probe.ASK));
  }).listen(0);
  await Promise.all([once(stun, 'listening'), once(peer, 'listening')]);
  const [stunPort, peerPort] = [stun, peer].map((server) => z.object({ port: z.number() }).parse(server.address()).port);
  const signal = new Signal();
  const candidates = ownCandidates({ host: '192.0.2.1', port: 1 }, peerPort ?? 0, 4).slice(1);
  const outcome = punchTcp({
    role: 'visitor',
    key: new PathKey('visitor', 'a password', nonces),
    signal,
    timeoutMs: 1000,
    stun: { host: '127.0.0.1', family: 4, ports: [stunPort ?? 0] },
  }).then(({ raw }) => {
    raw.destroy();
    return 'open';
  }, (error: unknown) => String(error));
  signal.write(Buffer.from(`${JSON.stringify({ type: 'candidates', candidates })}\n`));
  // A machine without a network has no such address.
  expect(await outcome).toMatch(candidates.length > 0 ? expected : /the peer named no address/);
  stun.close();
  peer.close();
});
