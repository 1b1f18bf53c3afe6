import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { parse } from '@babel/parser';
import { describe, expect, test } from '@jest/globals';
import { mixupsOf } from './mixups.ts';
import { mutantsOf, mutated } from './operators.ts';
import { withMutants } from './program.ts';
import { sample } from './sample.ts';
import { SuiteGraph } from './suites.ts';
import { isShort } from '../support/endurance.ts';

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

  test.each([
    ['f(a.one, b); Math.abs(a, b);', ['f(b, a.one); Math.abs(a, b);']],
    ['f(a.inletBytes)[a.exportBytes];', ['f(a.exportBytes)[a.exportBytes];', 'f(a.inletBytes)[a.inletBytes];']],
    ["if (a === 'tcp') f('udp');", ["if (a === 'udp') f('udp');", "if (a === 'tcp') f('tcp');"]],
    ["f('a text for people');", []],
    ['const x = f(3);', ['const x = f(4);']],
    ['const x = { a, b: 1 };', ['const x = {  b: 1 };', 'const x = { a,  };', 'const x = { a, b: 2 };']],
    ['const x = [a, ...b];', ['const x = [ ...b];', 'const x = [a, ];']],
    ['const x = a ?? b;', ['const x = a;']],
    ['const x = a.some(f).filter(g);', ['const x = (a.some(f));', 'const x = a.every(f).filter(g);']],
    ['{ this.a = 1; f(); }', ['{ f(); this.a = 1; }', '{ ; f(); }', '{ this.a = 2; f(); }']],
    ['for (const a of b) { continue; }', ['for (const a of b) { ; }']],
    ["this.log.info({ id: 1 }, 'x'); type A = { a: 'b'; c: 'd' };", []],
  ])('that mix something up or leave it out, of %s', (source, expected) => {
    expect(mixupsOf('src/a.ts', source).map((mutant) => mutated(source, mutant)).toSorted()).toEqual(expected.toSorted());
  });

  test.each([
    ['a = b < c;', 'a = (mutant$(0) ? b <= c : b < c);'],
    ['a = b === c && d;', 'a = (mutant$(0) ? b === c || d : (mutant$(1) ? b !== c : b === c) && d);'],
    ['if (a) b(); else c();', 'if ((mutant$(0) ? true : mutant$(1) ? false : a)) { if (!mutant$(2)) { b(); } } else { if (!mutant$(3)) { c(); } }'],
    ['if (a < 1) b = 1;', 'if ((mutant$(0) ? true : mutant$(1) ? false : mutant$(2) ? a <= 1 : a < 1)) b = 1;'],
    ['f(!a);', '{ if (!mutant$(0)) { f((mutant$(1) ? a : !a)); } }'],
  ])('are switches in the copy: %s', (source, expected) => {
    expect(withMutants(source, mutantsOf('src/a.ts', source).map((mutant, number) => ({ ...mutant, number })))).toBe(expected);
  });

  test('that are switched on one at a time do what they say', () => {
    const source = 'if (a > 1 && !b) n += 1; else n -= 1; n *= c ? 2 : 3;';
    const mutants = mutantsOf('src/a.ts', source).map((mutant, number) => ({ ...mutant, number }));
    const switched = withMutants(source, mutants);
    const run = (text: string, on: number): unknown[] =>
      [0, 1, 2].flatMap((a) =>
        [true, false].flatMap((b) =>
          [true, false].map((c) => runInNewContext(`n = 5; ${text} n`, { a, b, c, mutant$: (number: number) => number === on }) as unknown)
        )
      );
    expect(run(switched, -1)).toEqual(run(source, -1));
    expect(mutants.map(({ number }) => run(switched, number))).toEqual(mutants.map((mutant) => run(mutated(source, mutant), -1)));
    expect(mutants.length).toBeGreaterThan(7);
  });

  test('of two statements that change places do so when they are switched on', () => {
    const source = '{ n = n + a; n = n * b; }';
    const mutants = mixupsOf('src/a.ts', source).map((mutant, number) => ({ ...mutant, number }));
    const run = (text: string, on: number): unknown => runInNewContext(`n = 5; ${text} n`, { a: 2, b: 3, mutant$: (number: number) => number === on });
    expect(run(withMutants(source, mutants), -1)).toBe(21);
    expect(mutants.map(({ number }) => run(withMutants(source, mutants), number))).toEqual([15, 17, 7]);
  });

  test('leave every file of the program one that can be read, one by one and all together', () => {
    const files = readdirSync(path.join(root, 'src/rules'), { encoding: 'utf8' }).filter((name) => name.endsWith('.ts')).filter((_name, at) =>
      !isShort || at % 8 === 0
    );
    let count = 0;
    for (const name of files) {
      const source = readFileSync(path.join(root, 'src/rules', name), 'utf8');
      for (const mutant of [...mutantsOf(name, source), ...mixupsOf(name, source)]) {
        expect(() => parse(mutated(source, mutant), { sourceType: 'module', plugins: ['typescript'] })).not.toThrow();
        count++;
      }
      for (const kind of [mutantsOf, mixupsOf]) {
        const all = withMutants(source, kind(name, source).map((mutant, number) => ({ ...mutant, number })));
        expect(() => parse(all, { sourceType: 'module', plugins: ['typescript'] })).not.toThrow();
      }
    }
    expect(count).toBeGreaterThan(isShort ? 50 : 500);
  });

  test('are chosen by the seed, as many of each part of the program as of the others', () => {
    const all = ['src/rules/a.ts', 'src/wire/b.ts'].flatMap((file) => mutantsOf(file, 'a = 1 < 2; '.repeat(50)));
    const chosen = sample(all, { count: 20, seed: 7 });
    expect(chosen.filter(({ file }) => file === 'src/wire/b.ts')).toHaveLength(10);
    expect(sample(all, { count: 20, seed: 7 })).toEqual(chosen);
    expect(sample(all, { count: 20, seed: 8 })).not.toEqual(chosen);
    expect(sample(all, { count: 1000, seed: 7 })).toHaveLength(100);
  });

  test('are tried with the suites that import what they change, the closest first, those that start the program last', async () => {
    const graph = await SuiteGraph.of(root, ['test/rules/lists.test.ts', 'test/wire/mux.test.ts', 'test/legacy/lists.test.ts', 'test/e2e/connections.slow.ts']);
    expect(graph.suitesFor('src/rules/ip-list.ts')).toEqual(['test/rules/lists.test.ts', 'test/legacy/lists.test.ts', 'test/e2e/connections.slow.ts']);
    expect(graph.suitesFor('src/wire/mux.ts')[0]).toBe('test/wire/mux.test.ts');
    expect(graph.filesOf('test/rules/lists.test.ts')).toEqual(expect.arrayContaining(['test/rules/lists.test.ts', 'src/rules/ip-list.ts']));
    expect(graph.filesOf('test/rules/lists.test.ts')).not.toContain('src/wire/mux.ts');
    expect(graph.startsProgram('test/e2e/connections.slow.ts')).toBe(true);
    expect(graph.startsProgram('test/wire/mux.test.ts')).toBe(false);
  });
});
