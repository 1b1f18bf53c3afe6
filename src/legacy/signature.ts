import { createCipheriv, hash, timingSafeEqual } from 'node:crypto';
import type { Input } from './input.ts';

/** Half of the window around the server's time in which a timestamp is valid, in seconds, inclusive (contract 3.1). */
const windowSeconds = 20;

/** Says what is wrong with a call's signature, or undefined when it is valid (then the caller is an administrator). */
export type SignatureCheck = (input: Input) => string | undefined;

/**
 * Makes the check of `auth_key` and `timestamp` (contract 3.1, D1, D30). A pair may be used again
 * while its window is open: calls within one second share it.
 * @param authKey the configured key; an empty one refuses every call (contract D30; the settings empty one that everybody knows)
 * @param now ms since the epoch
 */
export function createSignatureCheck(authKey: string, now: () => number): SignatureCheck {
  return (input) => {
    const given = input.get('auth_key') ?? '';
    const text = (input.get('timestamp') ?? '').trim();
    if (given === '' || text === '') return 'missing auth_key/timestamp';
    // The integer is what is signed, not its text: +1700000000 and 01700000000 sign as 1700000000.
    const timestamp = /^[+-]?\d+$/.test(text) ? Number(text) : 0;
    const time = Math.floor(now() / 1000);
    if (Math.abs(time - timestamp) > windowSeconds) {
      return `timestamp outside the ${windowSeconds} second window (server time ${time})`;
    }
    if (authKey === '') return 'bad auth_key (the signed API is off: the configured auth_key is empty or well known)';
    return sameText(given, sign(authKey, timestamp)) ? undefined : 'bad auth_key';
  };
}

/** The digest a caller sends as `auth_key`: lower-case hex MD5 of the configured key followed by the decimal timestamp. */
export function sign(authKey: string, timestamp: number): string {
  return hash('md5', `${authKey}${timestamp}`, 'hex');
}

/**
 * What /auth/getauthkey hands out as `crypt_auth_key`: AES-128-CBC of the key, the crypt key serving as key and IV
 * (contract 3.2), in lower-case hex.
 * @throws {RangeError} when `cryptKey` is not exactly 16 bytes
 */
export function encryptAuthKey(authKey: string, cryptKey: string): string {
  const secret = Buffer.from(cryptKey);
  const cipher = createCipheriv('aes-128-cbc', secret, secret);
  return cipher.update(authKey, 'utf8', 'hex') + cipher.final('hex');
}

function sameText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
