import { createCipheriv, hash, timingSafeEqual } from 'node:crypto';
import type { Input } from './input.ts';

/** Maximum difference between a timestamp and the server's time, in seconds, inclusive (contract 3.1). */
const windowSeconds = 20;

/** Returns the problem with a call's signature; undefined = valid, and the caller is an administrator. */
export type SignatureCheck = (input: Input) => string | undefined;

/**
 * Creates the check of `auth_key` and `timestamp` (contract 3.1, D1, D30). A pair may be reused
 * within its window: calls in the same second share it.
 * @param authKey the configured key; an empty one refuses every call (contract D30; the settings clear well-known keys)
 * @param now ms since the epoch
 */
export function createSignatureCheck(authKey: string, now: () => number): SignatureCheck {
  return (input) => {
    const given = input.get('auth_key') ?? '';
    const text = (input.get('timestamp') ?? '').trim();
    if (given === '' || text === '') return 'missing auth_key/timestamp';
    // The signature covers the integer, not its text: +1700000000 and 01700000000 are signed as 1700000000.
    const timestamp = /^[+-]?\d+$/.test(text) ? Number(text) : 0;
    const time = Math.floor(now() / 1000);
    if (Math.abs(time - timestamp) > windowSeconds) {
      return `timestamp outside the ${windowSeconds} second window (server time ${time})`;
    }
    if (authKey === '') return 'bad auth_key (the signed API is off: the configured auth_key is empty or well known)';
    return sameText(given, sign(authKey, timestamp)) ? undefined : 'bad auth_key';
  };
}

/** The value of `auth_key`: lower-case hex MD5 of the configured key followed by the decimal timestamp. */
export function sign(authKey: string, timestamp: number): string {
  return hash('md5', `${authKey}${timestamp}`, 'hex');
}

/**
 * The value of `crypt_auth_key` in /auth/getauthkey: the key encrypted with AES-128-CBC, with the crypt key as key and IV
 * (contract 3.2), in lower-case hex.
 * @throws {RangeError} if `cryptKey` is not exactly 16 bytes long
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
