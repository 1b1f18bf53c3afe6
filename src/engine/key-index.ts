import { keyIdOf } from '../wire/handshake.ts';

/** Records by their secret key: a client's vkey, or a tunnel's password. */
export class KeyIndex<T> {
  /** By the bytes of the key id, as letters: half as long as its hex digits. */
  readonly #records = new Map<string, T>();

  /** @param keyId see {@link keyIdOf} */
  get(keyId: string): T | undefined {
    return this.#records.get(letters(keyId));
  }

  /** From now on the record has this key. */
  set(key: string, record: T): void {
    this.#records.set(letters(keyIdOf(key)), record);
  }

  /** The record no longer has this key, which may already be that of another one. */
  delete(key: string, record: T): void {
    const id = letters(keyIdOf(key));
    if (this.#records.get(id) === record) this.#records.delete(id);
  }
}

function letters(keyId: string): string {
  return Buffer.from(keyId, 'hex').toString('latin1');
}
