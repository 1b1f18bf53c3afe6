import type { RequestHandler } from 'express';
import { forwardedAddress } from '../rules/forwarded-for.ts';
import { addressSet } from '../rules/ip-access.ts';

/**
 * Makes what proxies report of a request ready for Express and for everybody who reads it: what anybody but a trusted proxy says is
 * removed, and the ports are taken out of X-Forwarded-For, since Express would take them for a part of the address.
 * @param trustedProxies IP addresses and networks
 */
export function forwardedFields(trustedProxies: readonly string[]): RequestHandler {
  const trusted = addressSet(trustedProxies);
  return ({ headers, socket }, _response, next) => {
    if (!trusted.has(socket.remoteAddress ?? '')) {
      for (const name of ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']) delete headers[name];
    } else if (headers['x-forwarded-for'] !== undefined) {
      headers['x-forwarded-for'] = [headers['x-forwarded-for']].flat().join(',').split(',').map(forwardedAddress).join(', ');
    }
    next();
  };
}
