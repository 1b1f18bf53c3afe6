import type http from 'node:http';
import { ConnectionShares, type ShareLimits } from '../rules/connection-shares.ts';
import { addressSet } from '../rules/ip-access.ts';

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
