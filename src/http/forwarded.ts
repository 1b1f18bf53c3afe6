import type { RequestHandler } from 'express';
import { forwardedAddress } from '../rules/forwarded-for.ts';
import { AddressSet } from '../rules/ip-access.ts';

/**
 * Cleans up the fields that proxies set, before Express and other readers use them: removes values that don't come from a trusted proxy,
 * and removes the ports in X-Forwarded-For, since Express would treat them as a part of the address.
 * @param trustedProxies IP addresses and networks
 */
export function forwardedFields(trustedProxies: readonly string[]): RequestHandler {
  const trusted = AddressSet.of(trustedProxies);
  return ({ headers, socket }, _response, next) => {
    if (!trusted.has(socket.remoteAddress ?? '')) {
      for (const name of ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']) delete headers[name];
    } else if (headers['x-forwarded-for'] !== undefined) {
      headers['x-forwarded-for'] = [headers['x-forwarded-for']].flat().join(',').split(',').map(forwardedAddress).join(', ');
    }
    next();
  };
}
