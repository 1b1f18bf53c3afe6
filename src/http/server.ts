import { ConnectionShares, type ShareLimits } from '../rules/connection-shares.ts';
import { addressSet } from '../rules/ip-access.ts';
import http, { type RequestListener } from 'node:http';
import { oneAtATime } from './one-at-a-time.ts';

/** A peer that neither sends nor takes anything while a response is on its way is cut off after this time, in ms. */
export const stalledMs = 60_000;

/**
 * The HTTP server of the APIs. Node's limits for slow and large heads stay on; idle callers may keep their connection for the next call.
 * @param ms instead of {@link stalledMs}
 */
export function createHttpServer(app: RequestListener, ms: number = stalledMs): http.Server {
  const server = http.createServer({ keepAliveTimeout: 65_000, headersTimeout: 15_000, requestTimeout: 60_000 }, oneAtATime(app));
  // Node looks at what was really taken: a reader that is only slow stays.
  server.timeout = ms;
  return server;
}

/**
 * Closes connections to `server` that are more than their address may have. Trusted proxies, through which many callers come, have no share of their own.
 */
export function holdToShares(server: http.Server, limits: ShareLimits, trustedProxies: readonly string[]): void {
  const shares = new ConnectionShares(limits);
  const trusted = addressSet(trustedProxies);
  server.on('connection', (socket) => {
    const { remoteAddress = '' } = socket;
    const address = trusted.has(remoteAddress) ? undefined : remoteAddress;
    if (shares.enter(address)) socket.once('close', () => shares.leave(address));
    else socket.destroy();
  });
}
