import { canonicalAddress } from '../../rules/ip-address.ts';
import { AllowVisitorDocument, type VisitorAnswer } from '../generated/graphql.ts';
import { compileOperation } from '../operation.ts';
import { about, keptText, readParameters } from '../parameters.ts';
import { raw, type Route } from '../route.ts';
import { encryptAuthKey } from '../signature.ts';

const visitor = {
  vkey: about("MD5 of the client's verification key, in hex.", keptText()),
  pass: about("The client's ipwhitepass.", keptText()),
  ip: about("The address to admit; blank = the caller's.", keptText()),
};

/** The texts for visitors (contract 3.2, D26). */
const visitorTexts: Readonly<Record<VisitorAnswer, string>> = { ALLOWED: 'ok', UNKNOWN_KEY: 'unknown key', WRONG_PASSWORD: 'bad password' };

/** The endpoints under /auth (contract 3.2). */
export const authRoutes: readonly Route[] = [
  raw({
    path: '/auth/gettime',
    answer: 'Time',
    aliases: ['/auth/get_time'],
    summary: "The server's time in Unix seconds, for callers with a different clock.",
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
  raw({
    path: '/auth/ipwhiteauth',
    answer: 'AllowedAddresses',
    methods: ['POST'],
    summary: 'Admits a visitor who sends the allowlist password of a client for two hours.',
    parameters: visitor,
    operation: AllowVisitorDocument,
    bind: ({ schema }) => {
      const run = compileOperation(schema, AllowVisitorDocument);
      return async ({ input, context }) => {
        const { vkey, pass, ip } = readParameters(visitor, input, false);
        if (vkey === undefined || pass === undefined || (ip !== undefined && canonicalAddress(ip) === undefined)) {
          return { success: false, message: 'bad params' };
        }
        const { allowVisitor } = await run(context, { keyDigest: vkey.trim(), password: pass, address: ip });
        return { success: allowVisitor === 'ALLOWED', message: visitorTexts[allowVisitor] };
      };
    },
  }),
];
