import { afterEach, expect, test } from '@jest/globals';
import { HandshakeError } from '../../src/wire/handshake-error.ts';
import { keyIdOf, proveHandshake, type Role } from '../../src/wire/handshake.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import type { ByteSocket } from '../../src/wire/socket.ts';
import { eventually } from '../support/eventually.ts';
import { visit } from '../support/target.ts';
import { CLIENT, fresh, openTunnel, startEngine, type TestEngine } from '../support/tunnel.ts';

const sockets: ByteSocket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** What the bridge answers to a peer that proves a key: its welcome, or its refusal. @param where the port without TLS, or with it */
async function answer({ bridge }: TestEngine, role: Role, key: string, info: object = {}, where: 'plain' | 'tls' = 'plain'): Promise<unknown> {
  const place = where === 'plain' ? { port: bridge.port } : { port: bridge.tls.port, trust: bridge.tls };
  const socket = await netBackend.connect({ host: bridge.host, timeoutMs: 10_000, ...place });
  sockets.push(socket);
  try {
    const { body } = await proveHandshake(socket, { timeoutMs: 60_000, role, keyId: keyIdOf(key), key, connection: 0, info });
    socket.attach({ onData: () => undefined, onEnd: () => socket.end(), onDrain: () => undefined, onClose: () => undefined });
    return body;
  } catch (error) {
    if (!(error instanceof HandshakeError)) throw error;
    return error.refusal;
  }
}

const sessionId = expect.stringMatching(/^[0-9a-f]{32}$/);
const record = (id: number, vkey: string, more: Partial<typeof CLIENT>) => ({ ...CLIENT, ...fresh, id, vkey, ...more });

test('every peer gets the welcome of its session, or the code, the text and what else it needs to know', async () => {
  const server = await startEngine({
    now: () => 1_000_000,
    stored: {
      clients: [
        record(1, 'plain', {}),
        record(2, 'secure', { crypt: true, compress: true }),
        record(3, 'disabled', { enabled: false }),
        record(4, 'expired', { expiresAt: 1_000_000 }),
        record(5, 'allowed', { configAllowed: true, expiresAt: 1_000_001 }),
      ],
    },
  });
  const secret = await openTunnel(server, { mode: 'secret', password: 'of secret' });
  const p2p = await openTunnel(server, { mode: 'p2p', clientId: 2, password: 'of p2p' });
  await openTunnel(server, { mode: 'secret', password: 'of stopped', enabled: false });
  const { port, fingerprint } = server.bridge.tls;
  const tlsNeeded = { code: 'tls-needed', text: 'the client is served over TLS only', tls: { port, fingerprint } };
  const disabled = { code: 'disabled', text: 'the client is disabled' };
  const expired = { code: 'expired', text: 'the client has expired' };
  const badInfo = { code: 'bad-info', text: 'the peer describes itself in a way that the server does not understand' };

  const standby = { sessionId, heartbeatMs: 15_000, compress: false };
  expect(await answer(server, 'standby', 'plain')).toEqual(standby);
  expect(await answer(server, 'standby', 'secure')).toEqual(tlsNeeded);
  expect(await answer(server, 'standby', 'secure', {}, 'tls')).toEqual(standby);
  expect(await answer(server, 'standby', 'disabled')).toEqual(disabled);
  expect(await answer(server, 'visit', 'of secret', { type: 'secret' })).toEqual(
    { tunnelId: secret.id, sessionId, heartbeatMs: 5000, compress: false, agentOnline: false },
  );

  expect(await answer(server, 'mux', 'plain')).toEqual({ clientId: 1, sessionId, heartbeatMs: 5000, compress: false, answersPings: true });
  expect(await answer(server, 'mux', 'secure')).toEqual(tlsNeeded);
  expect(await answer(server, 'mux', 'secure', {}, 'tls')).toEqual({ clientId: 2, sessionId, heartbeatMs: 5000, compress: true, answersPings: true });
  expect(await answer(server, 'mux', 'disabled')).toEqual(disabled);
  expect(await answer(server, 'mux', 'expired')).toEqual(expired);
  expect(await answer(server, 'mux', 'allowed', { version: 1 })).toEqual(badInfo);
  const configFile = { configFile: true };
  expect(await answer(server, 'mux', 'plain', configFile)).toEqual(
    { code: 'config-refused', text: 'the client may not use a configuration file (config_conn_allow is off)' },
  );
  expect(await answer(server, 'mux', 'allowed', configFile)).toEqual({ code: 'starting', text: 'the server is just starting' });
  expect(await answer(server, 'standby', 'plain')).toEqual(
    { code: 'same-server', text: 'the agent is connected to this server: its session in reserve must be with another one' },
  );

  expect(await answer(server, 'visit', 'of p2p', { type: 'p2p' })).toEqual(tlsNeeded);
  expect(await answer(server, 'visit', 'of p2p', { type: 'p2p' }, 'tls')).toEqual(
    { tunnelId: p2p.id, sessionId, heartbeatMs: 5000, compress: true, agentOnline: true },
  );
  expect(await answer(server, 'visit', 'of secret', { type: 'p2p' })).toMatchObject({ code: 'wrong-type' });
  expect(await answer(server, 'visit', 'of secret', { type: 'p3p' })).toEqual(badInfo);
  expect(await answer(server, 'visit', 'of stopped', { type: 'secret' })).toMatchObject({ code: 'tunnel-stopped' });
  expect(server.engine.counts).toMatchObject({ sessions: 2, visits: 2, standbys: 0, refused: 13, garbage: 0, dataConnections: 0, handshakesRefused: 0 });

  // The log names the client or the tunnel of each session.
  const lines = server.log.entries.filter(({ msg }) => /^(agent|standby|visitor) connected$/.test(msg));
  expect(lines.map(({ msg, clientId, tunnelId, address }) => [msg, clientId, tunnelId, address])).toEqual([
    ['standby connected', 1, undefined, '127.0.0.1'],
    ['standby connected', 2, undefined, '127.0.0.1'],
    ['visitor connected', undefined, secret.id, '127.0.0.1'],
    ['agent connected', 1, undefined, '127.0.0.1'],
    ['agent connected', 2, undefined, '127.0.0.1'],
    ['visitor connected', undefined, p2p.id, '127.0.0.1'],
  ]);

  const unknown = { code: 'unknown-key', text: 'the server does not know this vkey' };
  expect(await answer(server, 'data', 'wrong')).toEqual(unknown);
  expect(await answer(server, 'standby', 'wrong')).toEqual(unknown);
  expect(await answer(server, 'mux', 'wrong')).toEqual(unknown);
  expect(await answer(server, 'node', 'wrong')).toEqual(unknown);
  expect(await answer(server, 'visit', 'wrong')).toEqual({ code: 'unknown-key', text: 'no tunnel has this password' });

  // An open connection, which it waits for.
  await visit((await openTunnel(server, { targets: ['127.0.0.1:9'] })).port);
  await eventually(() => server.engine.counts.visitors, (open) => open === 1);
  void server.engine.drain(600_000);
  const shutdown = { code: 'shutdown', text: 'the server is shutting down' };
  for (const role of ['mux', 'standby'] as const) expect(await answer(server, role, 'plain')).toEqual(shutdown);
  expect(await answer(server, 'visit', 'of secret', { type: 'secret' })).toEqual(shutdown);
});
