import { ConnectionShares, type ShareLimits } from '../rules/connection-shares.ts';
import { AddressSet } from '../rules/ip-access.ts';
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import type { TlsIdentity } from '../settings/tls-identity.ts';
import { oneAtATime } from './one-at-a-time.ts';

/** A peer that neither sends nor receives anything for this many ms during a response is disconnected. */
export const stalledMs = 60_000;

/**
 * The HTTP server of the APIs. It uses Node's limits for slow and large heads. Idle callers may keep their connection for the next call.
 * @param tls serves HTTPS with it @param ms overrides {@link stalledMs}
 */
export function createHttpServer(app: RequestListener, tls?: TlsIdentity, ms: number = stalledMs): http.Server | https.Server {
  const limits = { keepAliveTimeout: 65_000, headersTimeout: 15_000, requestTimeout: 60_000 };
  const serve = oneAtATime(app);
  const server = tls === undefined
    ? http.createServer(limits, serve)
    : https.createServer({ ...limits, cert: tls.certificate, key: tls.key, handshakeTimeout: 10_000 }, serve);
  // Node checks the progress of the socket, so slow readers stay connected.
  server.timeout = ms;
  return server;
}

/**
 * Closes connections that exceed the share of their address. Trusted proxies, which carry many callers, have no share of their own.
 */
export function holdToShares(server: http.Server, limits: ShareLimits, trustedProxies: readonly string[]): void {
  const shares = new ConnectionShares(limits);
  const trusted = AddressSet.of(trustedProxies);
  server.on('connection', (socket) => {
    const { remoteAddress = '' } = socket;
    const address = trusted.has(remoteAddress) ? undefined : remoteAddress;
    if (shares.enter(address)) socket.once('close', () => shares.leave(address));
    else socket.destroy();
  });
}
