import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { afterEach, expect, test } from '@jest/globals';
import { channelSecretOf, fingerprintOf, secureAccepted, secureDialled, serverContext } from '../../src/wire/tls.ts';
import { covering } from '../support/certificates.ts';
import { identity } from '../support/wire.ts';

const closing: Array<() => void> = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Both ends of a connection over TLS, and what its client learns, in this order. */
async function dial(fingerprint: string) {
  const accepted: tls.TLSSocket[] = [];
  const server = net.createServer((socket) => {
    accepted.push(secureAccepted(socket, serverContext(identity)).on('error', () => undefined));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const socket = net.connect(typeof address === 'object' ? address?.port ?? 0 : 0, '127.0.0.1');
  closing.push(() => {
    for (const each of [socket, ...accepted]) each.destroy();
    server.close();
  });
  const outcomes: Array<tls.TLSSocket | Error> = [];
  await new Promise((resolve) => {
    secureDialled(socket, { fingerprint }, (outcome) => {
      outcomes.push(outcome);
      resolve(undefined);
    });
  });
  return { outcomes, accepted, socket };
}

test.each([['pinned', fingerprintOf(covering.certificate)], ['not pinned', '']])(
  'a certificate that is %s is accepted, and that is said once',
  async (_, fingerprint) => {
    const { outcomes: [secured, ...more], accepted: [other], outcomes } = await dial(fingerprint);
    if (!secured || secured instanceof Error || !other) throw new Error('it is secured');
    expect(more).toEqual([]);
    other.write('x');
    await once(secured, 'data');
    expect(channelSecretOf(secured)).toEqual(channelSecretOf(other));
    expect(channelSecretOf(secured)).toHaveLength(32);
    await new Promise<void>((resolve) => {
      secured.on('error', () => undefined).once('close', () => resolve()).destroy(new Error('later'));
    });
    expect([outcomes.length, channelSecretOf(secured)]).toEqual([1, undefined]);
  },
);

test('another certificate than the pinned one is an error, which is said once', async () => {
  const { outcomes, socket } = await dial('0'.repeat(64));
  if (!socket.closed) await once(socket, 'close');
  expect(outcomes).toEqual([expect.objectContaining({ name: 'FingerprintError', message: expect.stringContaining(fingerprintOf(covering.certificate)) })]);
});

test('either end speaks TLS 1.3 alone', async () => {
  const outcomes: unknown[] = [];
  const server = net.createServer((socket) => {
    secureAccepted(socket, serverContext(identity)).on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  const old = tls.createServer({ cert: identity.certificate, key: identity.key, maxVersion: 'TLSv1.2' }).on('tlsClientError', () => undefined).listen(
    0,
    '127.0.0.1',
  );
  await Promise.all([server, old].map((each) => once(each, 'listening')));
  const [port, oldPort] = [server, old].map((each) => {
    const address = each.address();
    return typeof address === 'object' ? address?.port ?? 0 : 0;
  });
  closing.push(() => {
    for (const each of [server, old]) each.close();
  });
  const client = tls.connect({ port, host: '127.0.0.1', maxVersion: 'TLSv1.2', rejectUnauthorized: false });
  await once(client, 'error').then(([error]) => outcomes.push(error));
  const socket = net.connect(oldPort ?? 0, '127.0.0.1');
  await new Promise<void>((resolve) => {
    secureDialled(socket, { fingerprint: '' }, (outcome) => {
      outcomes.push(outcome);
      resolve();
    });
  });
  expect(outcomes).toEqual([
    expect.objectContaining({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' }),
    expect.objectContaining({ code: expect.stringMatching(/^(?:ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION|ERR_SSL_UNSUPPORTED_PROTOCOL|EPROTO)$/) }),
  ]);
});

test('a connection that is tampered with, or lost, after its handshake is closed with the error', async () => {
  for (
    const [spoil, code] of [[(socket: net.Socket) => socket.write('this is no TLS record'), /^ERR_SSL/], [
      (socket: net.Socket) => socket.resetAndDestroy(),
      /^ECONNRESET$/,
    ]] as const
  ) {
    const { accepted: [other], outcomes: [secured], socket } = await dial('');
    if (!other || !secured || secured instanceof Error) throw new Error('it is secured');
    secured.on('error', () => undefined);
    const [error] = await new Promise<unknown[]>((resolve) => {
      other.on('error', (...given) => resolve(given)).resume();
      spoil(socket);
    });
    expect(error).toMatchObject({ code: expect.stringMatching(code) });
    expect(other.destroyed).toBe(true);
  }
});
