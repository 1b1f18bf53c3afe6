import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parse } from '@babel/parser';
import { describe, expect, test } from '@jest/globals';
import { mutantsOf, mutated } from './operators.ts';
import { sample } from './sample.ts';
import { SuiteGraph } from './suites.ts';

const root = path.resolve(import.meta.dirname, '../..');
const texts = (source: string) => mutantsOf('src/a.ts', source).map((mutant) => mutated(source, mutant));

describe('mutants', () => {
  test.each([
    ['a = b < c;', ['a = b <= c;']],
    ['a = b === c && d;', ['a = b === c || d;', 'a = b !== c && d;']],
    ['a = b + 1 - c;', ['a = b + 1 + c;', 'a = b - 1 - c;']],
    ["a = b + 'text';", []],
    ['a += 1; b ??= c;', ['a -= 1; b ??= c;', 'a += 1; b = c;']],
    ['a++; --b;', ['a--; --b;', 'a++; ++b;']],
    ['a = !(b in c);', ['a = (b in c);']],
    ['if (a) b = 1;', ['if (true) b = 1;', 'if (false) b = 1;']],
    ['a = b ? 1 : 2;', ['a = true ? 1 : 2;', 'a = false ? 1 : 2;']],
    ['a = true;', ['a = false;']],
    ['f(1); await g?.(); void h();', ['; await g?.(); void h();', 'f(1); ; void h();', 'f(1); await g?.(); ;']],
    ["this.log.info('said'); log.warn(1);", []],
    ['interface A { readonly b: true } const c: false = d as true;', []],
  ])('of %s', (source, expected) => {
    expect(texts(source)).toEqual(expected);
  });

  test('leave every file of the program one that can be read', () => {
    const files = readdirSync(path.join(root, 'src/rules'), { encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    let count = 0;
    for (const name of files) {
      const source = readFileSync(path.join(root, 'src/rules', name), 'utf8');
      for (const mutant of mutantsOf(name, source)) {
        expect(() => parse(mutated(source, mutant), { sourceType: 'module', plugins: ['typescript'] })).not.toThrow();
        count++;
      }
    }
    expect(count).toBeGreaterThan(500);
  });

  test('are chosen by the seed, as many of each part of the program as of the others', () => {
    const all = ['src/rules/a.ts', 'src/wire/b.ts'].flatMap((file) => mutantsOf(file, 'a = 1 < 2; '.repeat(50)));
    const chosen = sample(all, { count: 20, seed: 7 });
    expect(chosen.filter(({ file }) => file === 'src/wire/b.ts')).toHaveLength(10);
    expect(sample(all, { count: 20, seed: 7 })).toEqual(chosen);
    expect(sample(all, { count: 20, seed: 8 })).not.toEqual(chosen);
    expect(sample(all, { count: 1000, seed: 7 })).toHaveLength(100);
  });

  test('are tried with the suites that import what they change, the nearest first, those that start the program last', async () => {
    const graph = await SuiteGraph.of(root, ['test/rules/lists.test.ts', 'test/wire/mux.test.ts', 'test/legacy/lists.test.ts', 'test/e2e/connections.test.ts']);
    expect(graph.suitesFor('src/rules/ip-list.ts')).toEqual(['test/rules/lists.test.ts', 'test/legacy/lists.test.ts', 'test/e2e/connections.test.ts']);
    expect(graph.suitesFor('src/wire/mux.ts')[0]).toBe('test/wire/mux.test.ts');
    expect(graph.startsProgram('test/e2e/connections.test.ts')).toBe(true);
    expect(graph.startsProgram('test/wire/mux.test.ts')).toBe(false);
  });
});
