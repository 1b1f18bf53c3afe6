import { randomBytes } from 'node:crypto';
import { keyIdLettersOf } from '../wire/handshake.ts';

/**
 * Words of 32 bits of a key id that records are found by. 96 bits can't be found for a foreign key, and an agent that connects must prove the whole key anyway.
 */
const WORDS = 3;
/** Slots of an empty index; always a power of two. */
const LEAST = 16;
/** Random, so that nobody can choose keys whose records would all look for a slot in the same place. */
const [FACTOR, OTHER_FACTOR] = [randomBytes(4).readInt32BE() | 1, randomBytes(4).readInt32BE() | 1];

/**
 * Records by their secret key: a client's vkey, or a tunnel's password. Their key ids say in which slot a record is, or from which one on the next free slot was
 * looked for. A `Map` would need a text for each record and take three times the memory.
 */
export class KeyIndex<T> {
  /** The words of the key id in each slot. */
  #words = new Uint32Array(LEAST * WORDS);
  /** The record in each slot; undefined = it is free. */
  #records: Array<T | undefined> = free(LEAST);
  #count = 0;

  /** @param keyId see `keyIdOf` */
  get(keyId: string): T | undefined {
    const bytes = Buffer.from(keyId, 'hex');
    if (bytes.length < WORDS * 4) return undefined;
    return this.#records[this.#slotOf(bytes.readUInt32BE(0), bytes.readUInt32BE(4), bytes.readUInt32BE(8))];
  }

  /** From now on the record has this key. */
  set(key: string, record: T): void {
    const [first, second, third] = wordsOf(key);
    const slot = this.#slotOf(first, second, third);
    if (this.#records[slot] === undefined) this.#count++;
    this.#put(slot, first, second, third, record);
    if (this.#count > this.#records.length * 0.7) this.#grow();
  }

  /** The record no longer has this key, which may already be that of another one. */
  delete(key: string, record: T): void {
    const slot = this.#slotOf(...wordsOf(key));
    if (this.#records[slot] !== record) return;
    this.#records[slot] = undefined;
    this.#count--;
    // Records behind it may have looked for a free slot here.
    const [words, records, mask] = [this.#words, this.#records, this.#records.length - 1];
    for (let from = (slot + 1) & mask; records[from] !== undefined; from = (from + 1) & mask) {
      const moved = records[from];
      const at = from * WORDS;
      const [first = 0, second = 0, third = 0] = words.subarray(at, at + WORDS);
      records[from] = undefined;
      if (moved !== undefined) this.#put(this.#slotOf(first, second, third), first, second, third, moved);
    }
  }

  /** The slot that has this key id, otherwise the free one for it. */
  #slotOf(first: number, second: number, third: number): number {
    const [words, records, mask] = [this.#words, this.#records, this.#records.length - 1];
    // The highest bits of the sum.
    let slot = (Math.imul(first, FACTOR) + Math.imul(second, OTHER_FACTOR)) >>> Math.clz32(mask);
    for (; records[slot] !== undefined; slot = (slot + 1) & mask) {
      const at = slot * WORDS;
      if (words[at] === first && words[at + 1] === second && words[at + 2] === third) break;
    }
    return slot;
  }

  #put(slot: number, first: number, second: number, third: number, record: T): void {
    const at = slot * WORDS;
    this.#words[at] = first;
    this.#words[at + 1] = second;
    this.#words[at + 2] = third;
    this.#records[slot] = record;
  }

  #grow(): void {
    const [words, records] = [this.#words, this.#records];
    this.#words = new Uint32Array(words.length * 2);
    this.#records = free(records.length * 2);
    for (const [slot, record] of records.entries()) {
      if (record === undefined) continue;
      const at = slot * WORDS;
      const [first = 0, second = 0, third = 0] = [words[at], words[at + 1], words[at + 2]];
      this.#put(this.#slotOf(first, second, third), first, second, third, record);
    }
  }
}

function free<T>(slots: number): Array<T | undefined> {
  // oxlint-disable-next-line unicorn/no-new-array -- `Array.from` takes ten times as long, which a table of many slots would hold the event loop for
  return new Array<T | undefined>(slots).fill(undefined);
}

function wordsOf(key: string): [first: number, second: number, third: number] {
  const letters = keyIdLettersOf(key, WORDS * 4);
  return [wordAt(letters, 0), wordAt(letters, 4), wordAt(letters, 8)];
}

/** Four letters, a byte each, as an unsigned number. */
function wordAt(letters: string, at: number): number {
  return ((letters.charCodeAt(at) << 24) | (letters.charCodeAt(at + 1) << 16) | (letters.charCodeAt(at + 2) << 8) | letters.charCodeAt(at + 3)) >>> 0;
}
