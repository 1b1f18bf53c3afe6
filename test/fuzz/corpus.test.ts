import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { bytes, corpus, fileOf } from '../support/fuzz/corpus.ts';
import { fuzz, type Property } from '../support/fuzz/fuzz.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
const of = (input: fc.Arbitrary<Buffer[]>): Property<Buffer[]> => ({ name: 'bytes without zeros', input, format: z.array(bytes), numRuns: 100, directory });
const withoutZeros = (pieces: Buffer[]): void => {
  if (pieces.some((piece) => piece.includes(0))) throw new Error('a zero');
};

test('an input that fails is kept, once, and every later run begins with it', () => {
  const zeros = of(fc.constant([Buffer.from('\u00ff\0', 'latin1')]));
  expect(() => fuzz(zeros, withoutZeros)).toThrow(/a zero[^]*The input is now in .*bytes-without-zeros\.json/);
  expect(() => fuzz(zeros, withoutZeros)).toThrow(/a zero/);
  const harmless = of(fc.constant([Buffer.from('a')]));
  const seen: string[] = [];
  fuzz(harmless, (pieces) => void seen.push(Buffer.concat(pieces).toString('latin1')));
  expect(seen).toEqual(['\u00ff\0', ...Array.from({ length: 99 }, () => 'a')]);
});

test('every file of the corpus has the name of a property, so that it is replayed', () => {
  const sources = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.test.ts')).map((file) =>
    readFileSync(path.join(import.meta.dirname, file), 'utf8')
  );
  const literals = sources.flatMap((source) => Array.from(source.matchAll(/'[^'\n]{4,}'|"[^"\n]{4,}"|`\w[^`\n]{4,}`/g), ([literal]) => literal.slice(1, -1)));
  const names = literals.map((literal) => new RegExp(`^${literal.split(/\$\{[^}]*\}/).map((part) => path.parse(fileOf('', part)).name).join('.*')}$`));
  expect(readdirSync(corpus).filter((file) => !names.some((name) => name.test(path.parse(file).name)))).toEqual([]);
});
