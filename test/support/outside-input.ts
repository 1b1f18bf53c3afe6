import fc from 'fast-check';
import { anyCharacter } from './any-character.ts';
import { sized } from './endurance.ts';
import { threadTime } from './thread-time.ts';

/** How much a property test of a parser tries: other texts in each run. */
export const cases = { numRuns: sized(400, 10_000) };

/** `npm test` gives parsers half the longest text, and a quarter of the time: what a parser takes for it whose time grows with the square of the length. */
const shorter = sized(2, 1, 1);

/** The longest that a parser may take for a hostile text, in ms. */
export const hostileTextMs = 1000 / shorter ** 2;

/** What the parsers know, so that random texts get past their first characters. */
const pieces = [
  '0',
  '1',
  '65535',
  '-',
  '+',
  '.',
  ',',
  ':',
  '/',
  '\\',
  '*',
  '*.',
  '%41',
  '%',
  '?',
  '#',
  '&',
  '=',
  ';',
  '@',
  '_',
  '"',
  '[',
  ']',
  '{',
  '}',
  'null',
  'true',
  'false',
  'tcp',
  'desc',
  'id',
  'a',
  'Z',
  'example.com',
  'xn--mnchen-3ya',
  'münchen.de',
  '127.0.0.1',
  '[::1]',
  '2001:db8::1',
  '::ffff:1.2.3.4',
  '10.0.0.0/8',
  ':8080',
  '9001-9009',
  '2027-01-31',
  '2027/01/31',
  'T',
  ' ',
  '08:09',
  ':10',
  '.5',
  'Z',
  '+02:30',
  '\t',
  '\r\n',
  '\n',
  '\0',
  '\u2028',
  '\ud800',
  '😀',
  'é',
  'X-Name: value',
  '-----BEGIN CERTIFICATE-----',
  '["a"]',
  '{"ID":"a"}',
  'postgresql://u:p@h/d',
  '__proto__',
  'constructor',
];

/** Any text, most of it made of what some parser knows. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 30 }) },
  { weight: 3, arbitrary: fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((some) => some.join('')) },
);

/** The whole is as long as a text of the API may be (contract D32). */
export const hostileLength = 64 * 1024 / shorter;

/** Long texts of one piece over and over, with an end that makes a matcher go back: what regular expressions with two ways to match take years for. */
export const hostileTexts: readonly string[] = [
  ...pieces,
  'a.',
  'a-',
  'a:',
  '1.',
  '1,',
  '1-2,',
  'a=1&',
  ' a',
  'a ',
  'a\n',
  '{"a":',
  '[[',
  'X: 1\r\n',
  '%E',
  '::',
].flatMap((piece) => {
  const long = piece.repeat(Math.ceil(hostileLength / piece.length)).slice(0, hostileLength);
  const ended = [`${long.slice(1)}\0`, `*.${long.slice(3)}!`];
  // It is the end that makes a matcher go back.
  return sized(ended, [long, ...ended]);
});

/** How a parser refuses what it can't read: with an error of this class. undefined = it never throws. */
export type Refusal = (abstract new(...args: never[]) => Error) | undefined;

/**
 * Has a parser read something.
 * @returns what it makes of it; undefined also when it refuses
 * @param timeoutMs the longest that it may take
 * @throws {Error} when it throws anything but its refusal, or takes too long
 */
export function parsed<T>(read: () => T, refusal?: Refusal, timeoutMs = 1000): T | undefined {
  const start = performance.now();
  const value = accepted(read, refusal);
  if (performance.now() - start < timeoutMs) return value;
  // Another program may have had the processor: the second time, only what this thread itself takes counts.
  const before = threadTime();
  accepted(read, refusal);
  const took = threadTime() - before;
  if (took >= timeoutMs) throw new Error(`took ${Math.round(took)} ms`);
  return value;
}

function accepted<T>(read: () => T, refusal: Refusal): T | undefined {
  try {
    return read();
  } catch (error) {
    if (refusal === undefined || !(error instanceof refusal)) throw error;
    return undefined;
  }
}

/** Fails a property. Jest's own `expect` takes longer than most parsers. @throws {Error} */
export function hold(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}
