import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import type { DirectRole } from './path-key.ts';

/** TLS 1.3 with a shared key and a fresh key exchange: recorded traffic stays secret even if the password leaks. */
const OPTIONS = { ciphers: 'TLS_AES_128_GCM_SHA256', minVersion: 'TLSv1.3', highWaterMark: 64 * 1024 } as const;

/**
 * Encrypts a direct path; both sides authenticate with the key.
 * @throws {Error} when the peer has another key, or doesn't answer for `timeoutMs`; the path is closed then
 */
export async function secureDirect(raw: Duplex, role: DirectRole, psk: Buffer, timeoutMs: number): Promise<tls.TLSSocket> {
  const accepting = { ...OPTIONS, isServer: true, secureContext: tls.createSecureContext(OPTIONS), pskCallback: () => psk };
  const secured = role === 'agent'
    ? new tls.TLSSocket(raw, accepting)
    : tls.connect({ ...OPTIONS, socket: raw, checkServerIdentity: () => undefined, pskCallback: () => ({ psk, identity: 'visitor' }) });
  secured.on('_tlsError', (error: Error) => secured.destroy(error));
  raw.on('error', (error) => secured.destroy(error)).on('close', () => secured.destroy());
  secured.on('close', () => raw.destroy());
  const timer = setTimeout(() => secured.destroy(new Error('the peer does not begin')), timeoutMs);
  try {
    await new Promise<void>((resolve, reject) => {
      secured.once('close', () => reject(new Error('the direct path ended at once')));
      secured.once('error', reject);
      secured.once(role === 'visitor' ? 'secureConnect' : 'secure', () => {
        secured.off('error', reject);
        resolve();
      });
    });
  } finally {
    clearTimeout(timer);
  }
  return secured;
}
