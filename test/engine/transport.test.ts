import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import { keyIdOf, proveHandshake } from '../../src/wire/handshake.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { fingerprintOf } from '../../src/wire/tls.ts';
import { covering, other } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { Relay } from '../support/relay.ts';
import { settled } from '../support/settled.ts';
import { stopClock } from '../support/stopped-clock.ts';
import { closed, readAll, roundTrip, startEcho, visit } from '../support/target.ts';
import { standardTransfers, transfer, transferTarget } from '../support/transfers.ts';
import { CLIENT, fresh, launchAgent, openTunnel, startAgent, startEngine, type TestEngine } from '../support/tunnel.ts';

const encrypted = { ...CLIENT, crypt: true };
const fingerprint = fingerprintOf(covering.certificate);
const storing = (client: typeof CLIENT) => ({ stored: { clients: [{ ...client, ...fresh }] } });

/** The bridge's TLS port, as the server sends it to an agent that must use it. */
function tlsWay({ bridge }: TestEngine, pinned = fingerprint) {
  return [{ bridge: { host: bridge.host, port: bridge.tls.port } }, { tls: { fingerprint: pinned }, random: () => 0.01 }] as const;
}

const toEcho = async (server: TestEngine) => openTunnel(server, { targets: [(await startEcho()).address] });

describe.each([
  ['TLS', { crypt: true, compress: false }],
  ['compression', { crypt: false, compress: true }],
  ['compression and TLS', { crypt: true, compress: true }],
])('with %s', (_, transport) => {
  test('36 streams arrive whole, nothing is left of them, and TLS has no data connections', async () => {
    const server = await startEngine(storing({ ...CLIENT, ...transport }));
    const { log } = await startAgent(server);
    expect((await log.line(/^connected to/)).msg).toMatch(transport.crypt ? /as client 1 over TLS$/ : /as client 1$/);
    const target = await transferTarget();
    const tunnel = await openTunnel(server, { targets: [`127.0.0.1:${target.port}`] });
    await Promise.all(standardTransfers(700_000).map((what) => transfer(tunnel.port, what)));
    await eventually(() => server.engine.tunnelState(tunnel.id)?.connections, (open) => open === 0);
    expect(server.engine.counts.dataConnections > 0).toBe(!transport.crypt);
    target.close();
  });
});

describe('TLS', () => {
  test('an agent that pins the certificate connects over TLS, whatever the client says', async () => {
    const server = await startEngine();
    const { log } = await startAgent(...tlsWay(server));
    expect((await log.line(/^connected to/)).msg).toMatch(/as client 1 over TLS$/);
    expect(await roundTrip(await visit((await toEcho(server)).port), 'hello')).toBe('hello');
  });

  test('an agent that pins nothing is served too', async () => {
    const server = await startEngine();
    await startAgent(...tlsWay(server, ''));
    expect(server.engine.clientState(CLIENT.id)?.connected).toBe(true);
  });

  test('a server with another certificate than the pinned one receives nothing, and the agent reports its fingerprint', async () => {
    const server = await startEngine();
    const pinned = fingerprintOf(other.certificate);
    const { log } = launchAgent(...tlsWay(server, pinned));
    expect((await log.line(/^cannot connect/)).msg).toContain(`the server's certificate has the fingerprint ${fingerprint}, not the pinned ${pinned}`);
    await log.next(/^cannot connect/);
    await eventually(() => server.engine.counts.handshakes, (open) => open === 0);
    expect(server.engine.counts).toMatchObject({ sessions: 0, refused: 0 });
  });

  test('a man in the middle that terminates TLS cannot relay the handshake', async () => {
    const server = await startEngine();
    const between = tls.createServer({ key: other.key, cert: other.certificate }, (near) => {
      const far = tls.connect({ port: server.bridge.tls.port, host: '127.0.0.1', rejectUnauthorized: false });
      for (const [from, to] of [[near, far], [far, near]] as const) from.on('error', () => to.destroy()).pipe(to);
    }).listen(0, '127.0.0.1');
    await once(between, 'listening');
    const address = between.address();
    if (address === null || typeof address === 'string') throw new Error('no address');
    const { log } = launchAgent({ bridge: { host: '127.0.0.1', port: address.port } }, { tls: { fingerprint: '' } });
    expect((await log.line(/^refused by/)).msg).toMatch(/the server does not know this vkey/);
    expect(server.engine.counts.sessions).toBe(0);
    between.close();
  });

  test('an agent of an encrypted client that connects without TLS gets the TLS port, and reconnects there', async () => {
    const server = await startEngine(storing(encrypted));
    const { log } = await startAgent(server);
    expect((await log.line(/^connected to/)).msg).toMatch(/over TLS$/);
    expect(server.engine.counts).toMatchObject({ sessions: 1, refused: 1 });
    expect(log.entries.some(({ msg }) => msg.startsWith('refused'))).toBe(false);
  });

  test('the refusal is only trusted if it is authenticated by the key', async () => {
    const server = await startEngine(storing(encrypted));
    const prove = async (vkey: string) => {
      const socket = await netBackend.connect({ host: server.bridge.host, port: server.bridge.port, timeoutMs: 1000 });
      const refused = await proveHandshake(socket, { timeoutMs: 1000, role: 'mux', keyId: keyIdOf(CLIENT.vkey), key: vkey, connection: 0, info: {} }).catch((
        error: unknown,
      ) => error);
      return refused;
    };
    const tlsPort = server.bridge.tls.port;
    expect(await prove(CLIENT.vkey)).toMatchObject({ code: 'refused', refusal: { code: 'tls-needed', tls: { port: tlsPort, fingerprint } } });
    expect(await prove('another')).toMatchObject({ code: 'refused', refusal: { code: 'unknown-key', tls: undefined } });
  });

  test('switched on while the agent is connected, it ends the session, and the agent is back over TLS; switched off likewise', async () => {
    const server = await startEngine();
    const { log } = await startAgent(server, { random: () => 0.01 });
    const { port } = await toEcho(server);
    const visitor = await visit(port);
    await roundTrip(visitor, 'clear');

    const secure = log.next(/^connected to .* over TLS$/);
    await server.engine.apply({ kind: 'client', client: encrypted });
    await Promise.all([closed(visitor), log.line(/lost: the transport of the client was changed/), secure]);
    const second = await visit(port);
    expect(await roundTrip(second, 'secret')).toBe('secret');

    const clear = log.next(/^connected to .* as client 1$/);
    await server.engine.apply({ kind: 'client', client: CLIENT });
    await Promise.all([closed(second), clear]);
    expect(await roundTrip(await visit(port), 'clear')).toBe('clear');
  });

  test('switched on for an agent that came over TLS anyway, it disturbs nobody; nor do other changes', async () => {
    const server = await startEngine();
    await startAgent(...tlsWay(server));
    const visitor = await visit((await toEcho(server)).port);
    for (const client of [{ ...CLIENT, basicUser: 'somebody' }, encrypted]) {
      await server.engine.apply({ kind: 'client', client });
      expect(await roundTrip(visitor, 'still here')).toBe('still here');
    }
  });

  test('a data connection is refused to a session over TLS', async () => {
    const server = await startEngine();
    const dial = (port: number, trusted = port === server.bridge.tls.port) =>
      netBackend.connect({ host: server.bridge.host, port, trust: trusted ? { fingerprint } : undefined, timeoutMs: 1000 });
    const socket = await dial(server.bridge.tls.port);
    const { body, sessionKey } = await proveHandshake(socket, {
      timeoutMs: 1000,
      role: 'mux',
      keyId: keyIdOf(CLIENT.vkey),
      key: CLIENT.vkey,
      connection: 0,
      info: {},
    });
    const { sessionId } = body as { sessionId: string };
    for (const port of [server.bridge.port, server.bridge.tls.port]) {
      const refused = proveHandshake(await dial(port), { timeoutMs: 1000, role: 'data', keyId: sessionId, key: sessionKey, connection: 1, info: {} });
      await expect(refused).rejects.toMatchObject({ refusal: { code: 'no-data-connections' } });
    }
    socket.destroy();
  });

  test.each([
    ['an HTTP request', (port: number) =>
      net.connect(port, '127.0.0.1', function connected(this: net.Socket) {
        this.write('GET / HTTP/1.1\r\n\r\n');
      })],
    ['the protocol without TLS', (port: number) =>
      net.connect(port, '127.0.0.1', function connected(this: net.Socket) {
        this.write('ADIT\u0001\u0000');
      })],
    ['TLS 1.2', (port: number) => tls.connect({ port, host: '127.0.0.1', maxVersion: 'TLSv1.2', rejectUnauthorized: false })],
    ['silence', (port: number) => net.connect(port, '127.0.0.1')],
    ['TLS and then silence', (port: number) => tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false })],
    [
      'TLS and then an HTTP request',
      (port: number) =>
        tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, function connected(this: net.Socket) {
          this.write('GET / HTTP/1.1\r\n\r\n');
        }),
    ],
  ])('%s on the TLS port is closed within the time limit and counted', async (_, connect) => {
    const server = await startEngine({ bridgeTiming: { handshakeMs: 200 } });
    const socket = connect(server.bridge.tls.port).on('error', () => undefined); // how it ends is up to the client
    await closed(socket);
    await eventually(() => server.engine.counts.handshakes, (open) => open === 0);
    expect(server.engine.counts).toMatchObject({ garbage: 1, sessions: 0 });
  });

  test('both sides notice that the other has fallen silent', async () => {
    const passUntil = stopClock();
    const server = await startEngine({ bridgeTiming: { heartbeatMs: 40 } });
    const relay = await Relay.start(server.bridge.tls.port);
    const { log } = await startAgent({ bridge: relay.address }, { tls: { fingerprint }, random: () => 0.9 });
    const visitor = await visit((await toEcho(server)).port);
    await roundTrip(visitor, 'x');
    const back = log.next(/^connected to/);
    relay.freeze();
    const [ended, lost] = await passUntil(Promise.all([server.log.line(/agent disconnected/), log.line(/^connection to .* lost/)]));
    expect(ended['reason']).toMatch(/no sign of life/);
    expect(lost.msg).toMatch(/no sign of life/);
    await Promise.all([closed(visitor), back]);
  });

  test('bytes that somebody puts in between end the session at once', async () => {
    const server = await startEngine();
    const relay = await Relay.start(server.bridge.tls.port);
    const { log } = await startAgent({ bridge: relay.address }, { tls: { fingerprint } });
    const visitor = await visit((await toEcho(server)).port);
    await roundTrip(visitor, 'x');
    relay.inject(Buffer.concat([Buffer.from([23, 3, 3, 0, 32]), Buffer.alloc(32, 7)]));
    const before = performance.now();
    await Promise.all([closed(visitor), server.log.line(/agent disconnected/), log.line(/^connection to .* lost/)]);
    expect(performance.now() - before).toBeLessThan(10_000); // without it, when the sign of life is missed
  });
});

describe('compression', () => {
  const text = Buffer.alloc(1_000_000, 'all work and no play makes a dull boy, ');

  /** Sends `text` through an echo. @returns the bytes that crossed the wire for it */
  async function cost(relay: Relay, port: number): Promise<number> {
    const before = await settled(() => relay.bytes);
    const visitor = await visit(port);
    const answer = readAll(visitor);
    visitor.end(text);
    expect((await answer).equals(text)).toBe(true);
    return await settled(() => relay.bytes) - before;
  }

  test('is used both ways when the client has it, and switched while connections are open', async () => {
    const server = await startEngine();
    const relay = await Relay.start(server.bridge.port);
    await startAgent({ bridge: relay.address });
    const { port } = await toEcho(server);
    const open = await visit(port);
    expect(await cost(relay, port)).toBeGreaterThan(2 * text.length);
    await server.engine.apply({ kind: 'client', client: { ...CLIENT, compress: true } });
    expect(await roundTrip(open, 'on')).toBe('on');
    expect(await cost(relay, port)).toBeLessThan(text.length / 10);
    await server.engine.apply({ kind: 'client', client: CLIENT });
    expect(await roundTrip(open, 'off')).toBe('off');
    expect(await cost(relay, port)).toBeGreaterThan(2 * text.length);
  });

  test('is used from the first byte of a session', async () => {
    const server = await startEngine(storing({ ...CLIENT, compress: true }));
    const relay = await Relay.start(server.bridge.port);
    await startAgent({ bridge: relay.address });
    expect(await cost(relay, (await toEcho(server)).port)).toBeLessThan(text.length / 10);
  });
});

test('each new certificate of the bridge counts: the same one changes nothing, and the former one is another one again', async () => {
  const server = await startEngine();
  const of = (identity: typeof covering) => server.engine.renewBridge(identity).tls.fingerprint;
  const [first, second] = [fingerprint, fingerprintOf(other.certificate)];
  expect([of(covering), of(other), of(other), of(covering)]).toEqual([first, second, second, first]);
  const socket = tls.connect({ host: server.bridge.host, port: server.bridge.tls.port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  expect(fingerprintOf(socket.getPeerX509Certificate()?.toString() ?? '')).toBe(first);
  socket.destroy();
});
