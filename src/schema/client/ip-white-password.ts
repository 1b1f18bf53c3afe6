import { canonicalAddress } from '../../rules/ip-address.ts';
import type { Context } from '../context.ts';
import { invalidInput } from '../errors.ts';
import type { VisitorOutcome } from './enums.ts';

/** /auth/ipwhiteauth (contract 3.2, D14): allows a visitor's address by the password of a client's allowlist. @throws {AditError} INVALID_INPUT if the address is invalid */
export async function allowVisitor(context: Context, keyDigest: string, password: string, address: string): Promise<VisitorOutcome> {
  const { caller, engine, attempts } = context;
  const visitor = canonicalAddress(address);
  if (visitor === undefined) throw invalidInput('address', 'not an IP address');
  const clientId = await engine.clientOfVisitors(keyDigest.toLowerCase());
  const name = clientId === undefined ? 'no client' : `client ${clientId}`;
  const attempt = attempts.begin('ipWhitePassword', caller.address ?? '', name, context.now());
  if (attempt.wait > 0) return 'wrongPassword';
  if (clientId === undefined || !await engine.allowByPassword(clientId, visitor, password)) {
    attempt.failed();
    return clientId === undefined ? 'unknownKey' : 'wrongPassword';
  }
  attempt.succeeded();
  context.log.info({ clientId, address: visitor }, "a visitor's address was allowed by the password");
  return 'allowed';
}
