import { keyIdLettersOf } from '../wire/handshake.ts';

/**
 * Bytes of a key id that records are found by. 96 bits can't be found for a foreign key, and an agent that connects must prove the whole key anyway. V8 copies a
 * part of a text that has less than 13 letters; a longer part would keep the whole text in memory.
 */
const BYTES = 12;

/** Records by their secret key: a client's vkey, or a tunnel's password. */
export class KeyIndex<T> {
  /** By the first bytes of the key id, a letter each: a third of the hex digits of the whole. */
  readonly #records = new Map<string, T>();

  /** @param keyId see `keyIdOf` */
  get(keyId: string): T | undefined {
    return this.#records.get(Buffer.from(keyId.slice(0, 2 * BYTES), 'hex').toString('latin1'));
  }

  /** From now on the record has this key. */
  set(key: string, record: T): void {
    this.#records.set(keyIdLettersOf(key, BYTES), record);
  }

  /** The record no longer has this key, which may already be that of another one. */
  delete(key: string, record: T): void {
    const id = keyIdLettersOf(key, BYTES);
    if (this.#records.get(id) === record) this.#records.delete(id);
  }
}
