import { raw, type Route } from '../route.ts';
import { encryptAuthKey } from '../signature.ts';

/** The endpoints under /auth (spec "Authentication" rules 2 and 3, contract 3.2). */
export const authRoutes: readonly Route[] = [
  raw({
    path: '/auth/gettime',
    answer: 'Time',
    aliases: ['/auth/get_time'],
    summary: "The server's time in Unix seconds, for callers whose clock differs.",
    bind: ({ now }) => () => ({ time: Math.floor(now() / 1000) }),
  }),
  raw({
    path: '/auth/getauthkey',
    answer: 'EncryptedKey',
    summary: 'The configured auth_key, encrypted with auth_crypt_key.',
    perMinute: 300,
    bind: ({ authKey, authCryptKey }) => {
      const answer = authKey === '' || Buffer.byteLength(authCryptKey) !== 16
        ? { status: 0 }
        : { crypt_auth_key: encryptAuthKey(authKey, authCryptKey), crypt_type: 'aes cbc', status: 1 };
      return () => answer;
    },
  }),
];
