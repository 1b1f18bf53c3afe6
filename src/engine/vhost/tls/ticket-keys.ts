import { hkdfSync, randomBytes } from 'node:crypto';

/** Bytes of a ticket key as OpenSSL takes it: its name, and the keys of HMAC and AES. */
const KEY_BYTES = 48;

/**
 * The keys that TLS session tickets are sealed with, one for each certificate, so that a ticket of one host is invalid at another. Until a
 * secret is set, they are valid for this process only.
 */
export class TicketKeys {
  #secret: Buffer = randomBytes(32);
  #version = 0;

  /** A different number = the keys have changed. */
  get version(): number {
    return this.#version;
  }

  /** Derives the keys from this secret; tickets of another secret lead to a full handshake. */
  use(secret: Buffer): void {
    if (this.#secret.equals(secret)) return;
    this.#secret = secret;
    this.#version++;
  }

  /** @param fingerprint of the certificate */
  keyFor(fingerprint: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#secret, '', `adit session tickets ${fingerprint}`, KEY_BYTES));
  }
}
