import path from 'node:path';
import process from 'node:process';
import fc from 'fast-check';
import { z } from 'zod';
import { anyCharacter } from '../any-character.ts';
import { sized } from '../endurance.ts';
import { parsed, type Refusal } from '../outside-input.ts';
import { bytes, keptInputs, keepInput } from './corpus.ts';

const given = process.env['ADIT_FUZZ_SEED'];
/** When `npm run fuzz` ends, in ms since 1970. */
const end = process.env['ADIT_FUZZ_END'];

/**
 * How much a parser is given: 500 cases in `npm test`, 100,000 in `npm run endurance` and `npm run fuzz`, which stops when its time is over. A failure prints
 * its seed and path, and `ADIT_FUZZ_SEED=SEED ADIT_FUZZ_PATH=PATH npm test -- test/fuzz/...` runs it again.
 */
const fuzzRuns: Pick<fc.Parameters, 'numRuns' | 'seed' | 'path'> = {
  numRuns: sized(200, 100_000),
  ...given === undefined ? {} : { seed: Number(given) },
  ...process.env['ADIT_FUZZ_PATH'] === undefined ? {} : { path: process.env['ADIT_FUZZ_PATH'] },
};

/** The longest that a test of one property may take, in ms. */
export const FUZZ_MS = sized(60_000, 1_800_000);

/** What must hold for every input. */
export interface Property<T> {
  /** Unique: the name of its file in the corpus. */
  readonly name: string;
  readonly input: fc.Arbitrary<T>;
  /** How an input is read from the corpus. */
  readonly format: z.ZodType<T>;
  /** Left out = as many as `fuzzRuns` says. */
  readonly numRuns?: number;
  /** Left out = the corpus of the repository. */
  readonly directory?: string;
}

/** Checks a property with the inputs of the corpus, then with random ones. @throws {Error} with the seed; the corpus has the input then */
export function fuzz<T>(property: Property<T>, check: (input: T) => void): void {
  settle(property, fc.check(fc.property(property.input, check), parametersOf(property)));
}

/** The same for a check that takes several iterations of the event loop. */
export async function fuzzAsync<T>(property: Property<T>, check: (input: T) => Promise<void>): Promise<void> {
  settle(property, await fc.check(fc.asyncProperty(property.input, check), parametersOf(property)));
}

function parametersOf<T>({ name, format, numRuns, directory }: Property<T>): fc.Parameters<[T]> {
  return {
    ...fuzzRuns,
    ...numRuns === undefined ? {} : { numRuns },
    ...end === undefined ? {} : { interruptAfterTimeLimit: Math.max(1000, Number(end) - Date.now()) },
    examples: keptInputs(name, format, directory).map((input) => [input]),
  };
}

function settle<T>({ name, format, directory }: Property<T>, details: fc.RunDetails<[T]>): void {
  if (!details.failed) return;
  const problem = details.errorInstance instanceof Error ? details.errorInstance.message : String(details.errorInstance);
  const message = `${problem}\n${fc.defaultReportMessage(details)}`;
  const input = details.counterexample?.[0];
  const kept = input === undefined || keptInputs(name, format, directory).some((before) => fc.stringify(before) === fc.stringify(input));
  const file = kept ? undefined : keepInput(name, input, problem, directory);
  throw new Error(file === undefined ? message : `${message}\nThe input is now in ${path.relative(process.cwd(), file)}`, { cause: details.errorInstance });
}

/** A parser of bytes. */
export interface ByteParser {
  readonly name: string;
  /** What it is meant for, and what looks like it. */
  readonly input: fc.Arbitrary<Buffer>;
  /** Reads the pieces, one after the other. @returns what came of it, the same for the same bytes however they are cut; compared as JSON */
  readonly read: (pieces: readonly Buffer[]) => unknown;
  /** How it refuses. */
  readonly refusal?: Refusal;
  /** Whether bytes come in one piece always: a datagram, say. */
  readonly whole?: true;
}

/**
 * Gives a parser its inputs: they are read or refused cleanly, in less than a second, and with the same result however they are cut.
 * @throws {Error} with the seed
 */
export function fuzzed({ name, input, read, refusal, whole: oneOnly }: ByteParser): void {
  const outcome = (pieces: readonly Buffer[]): string => {
    let refused: unknown;
    const value = parsed(() => {
      try {
        return { read: read(pieces) };
      } catch (error) {
        refused = error;
        throw error;
      }
    }, refusal);
    return value ? JSON.stringify(value.read) ?? 'nothing' : `refused: ${refused instanceof Error ? refused.name : ''}`;
  };
  fuzz({ name, input: inPieces(input), format: z.array(bytes) }, (pieces) => {
    const once = outcome([Buffer.concat(pieces)]);
    if (oneOnly) return;
    const again = outcome(pieces);
    if (again !== once) throw new Error(`${name}: ${again.slice(0, 300)} in ${pieces.length} pieces, ${once.slice(0, 300)} in one`);
  });
}

/** The bytes, and some way to cut them: into single ones, in two at any place, or anyhow. */
export function inPieces(input: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer[]> {
  const cuts = fc.oneof(
    { weight: 1, arbitrary: fc.constant('bytes' as const) },
    { weight: 3, arbitrary: fc.array(fc.nat(), { minLength: 1, maxLength: 1 }) },
    { weight: 3, arbitrary: fc.array(fc.nat(), { maxLength: 6 }) },
  );
  return fc.tuple(input, cuts).map(([whole, how]) =>
    how === 'bytes' && whole.length <= 2000 ? Array.from(whole, (byte) => Buffer.of(byte)) : cutUp(whole, how === 'bytes' ? [] : how)
  );
}

/** The bytes cut at these places, each taken modulo their length. */
export function cutUp(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return at.slice(1).map((to, i) => bytes.subarray(at[i], to));
}

/** Damages valid input, most of the time: bits flipped, bytes cut off, put in, taken out, doubled, and numbers that lie about a length. */
export function damaged(valid: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  return fc.tuple(valid, fc.array(damage, { maxLength: 3 })).map(([bytes, all]) => all.reduce((before, one) => one(before), bytes));
}

type Damage = (bytes: Buffer) => Buffer;
const place = fc.nat({ max: 0x7fff_ffff });
const lies = [0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x10001, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.tuple(place, fc.nat({ max: 7 })).map(([at, bit]): Damage => (bytes) =>
    changed(bytes, at, (copy, index) => {
      copy[index] = (copy[index] ?? 0) ^ (1 << bit);
    })
  ),
  fc.tuple(place, fc.nat({ max: 255 })).map(([at, value]): Damage => (bytes) =>
    changed(bytes, at, (copy, index) => {
      copy[index] = value;
    })
  ),
  place.map((at): Damage => (bytes) => bytes.subarray(0, at % (bytes.length + 1))),
  fc.tuple(place, fc.uint8Array({ maxLength: 12 })).map(([at, more]): Damage => (bytes) => {
    const index = at % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, index), more, bytes.subarray(index)]);
  }),
  fc.tuple(place, place).map(([from, length]): Damage => (bytes) => {
    const index = from % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, index), bytes.subarray(index + length % 16)]);
  }),
  fc.tuple(place, place).map(([from, length]): Damage => (bytes) => {
    const index = from % (bytes.length + 1);
    const twice = bytes.subarray(index, index + length % 40);
    return Buffer.concat([bytes.subarray(0, index), twice, bytes.subarray(index)]);
  }),
  fc.tuple(place, fc.constantFrom(1, 2, 3, 4), fc.constantFrom(...lies)).map(([at, size, value]): Damage => (bytes) =>
    changed(bytes, at, (copy, index) => {
      if (index + size <= copy.length) copy.writeUIntBE(value % 2 ** (8 * size), index, size);
    })
  ),
);

function changed(bytes: Buffer, at: number, change: (copy: Buffer, index: number) => void): Buffer {
  if (bytes.length === 0) return bytes;
  const copy = Buffer.from(bytes);
  change(copy, at % bytes.length);
  return copy;
}

/** Any bytes at all. */
export const noise: fc.Arbitrary<Buffer> = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));

/** Lines of Latin-1, made of what a protocol knows and what it does not. */
export function lines(words: readonly string[]): fc.Arbitrary<Buffer> {
  return fc.array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...words) }, { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 6 }) }), {
    maxLength: 14,
  })
    .map((parts) => Buffer.from(parts.join(''), 'latin1'));
}
