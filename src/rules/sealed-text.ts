import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** The lengths of AES-256-GCM, in bytes. */
const [KEY, NONCE, TAG] = [32, 12, 16];
const PURPOSE = 'adit shared files';

/** Encrypts a text. @param name where it belongs: only {@link unsealed} with the same name decrypts it */
export function sealed(key: Buffer, name: string, text: string): string {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', derived(key), nonce).setAAD(Buffer.from(name));
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

/** Decrypts a text. @returns undefined if it was encrypted with another key or for another name, or if it was changed */
export function unsealed(key: Buffer, name: string, text: string): string | undefined {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length < NONCE + TAG) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', derived(key), bytes.subarray(0, NONCE), { authTagLength: TAG })
    .setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(-TAG));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]).toString();
  } catch {
    return undefined; // the tag does not match: that is the answer
  }
}

function derived(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', PURPOSE, KEY));
}
