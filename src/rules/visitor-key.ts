import { createHash } from 'node:crypto';

/** The digest of a verification key by which a visitor names the client that is to let him in (contract 3.2): MD5, 32 lower-case hex digits. */
export function visitorKeyOf(vkey: string): string {
  return createHash('md5').update(vkey).digest('hex');
}
