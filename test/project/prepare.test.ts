import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { dataModel } from '../../prisma/data-model.mjs';
import { lockDifference, missingPackages } from '../../src/prepare/install.mjs';
import { isStale, withLock } from '../../src/prepare/lock.mjs';
import { runStep, staleReason } from '../../src/prepare/stamp.mjs';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();

describe('packages are installed', () => {
  const wanted = { '': {}, 'node_modules/a': { version: '1.0.0' }, 'node_modules/a/node_modules/b': { version: '2.0.0' } };
  const withTool = { ...wanted, 'node_modules/tool': { version: '1.0.0', dev: true } };

  function missing(forDevelopment: boolean, locked: object, installed: object): ReturnType<typeof missingPackages> {
    const checkout = path.join(directory, 'checkout');
    mkdirSync(path.join(checkout, 'node_modules'), { recursive: true });
    writeFileSync(path.join(checkout, 'package-lock.json'), JSON.stringify({ packages: locked }));
    writeFileSync(path.join(checkout, 'node_modules/.package-lock.json'), JSON.stringify({ packages: installed }));
    return missingPackages(checkout, forDevelopment);
  }

  test('when node_modules is missing', () => {
    expect(missingPackages(directory, false)).toEqual({ why: 'node_modules is missing', forDevelopment: false, incomplete: false });
  });

  test('when one is missing or has another version, also below another', () => {
    expect(lockDifference(wanted, { 'node_modules/a': { version: '1.0.0' } }, true)).toBe('b is not installed');
    expect(lockDifference(wanted, { ...wanted, 'node_modules/a': { version: '0.9.0' } }, true)).toBe('a is 0.9.0, package-lock.json wants 1.0.0');
  });

  test('not when they agree, even if an optional one of another platform is missing', () => {
    expect(lockDifference({ ...wanted, 'node_modules/c': { version: '1.0.0', optional: true } }, wanted, true)).toBeUndefined();
    expect(missingPackages(path.resolve(import.meta.dirname, '../..'), true)).toBeUndefined();
  });

  test('for development when tests need them; those that a start has installed stay', () => {
    expect(missing(false, withTool, wanted)).toBeUndefined();
    expect(missing(true, withTool, wanted)).toEqual({ why: 'tool is not installed', forDevelopment: true, incomplete: true });
  });

  test('for development also before a start, if they were installed and are outdated', () => {
    const newer = { ...withTool, 'node_modules/tool': { version: '2.0.0', dev: true } };
    expect(missing(false, newer, withTool)).toEqual({ why: 'tool is 1.0.0, package-lock.json wants 2.0.0', forDevelopment: true, incomplete: true });
  });

  test('from the beginning when a package that a start needs has changed', () => {
    const newer = { ...withTool, 'node_modules/a': { version: '1.1.0' } };
    expect(missing(true, newer, withTool)).toEqual({ why: 'a is 1.0.0, package-lock.json wants 1.1.0', forDevelopment: true, incomplete: false });
  });
});

describe('a step', () => {
  const where = { root: directory, stamps: path.join(directory, 'stamps') };
  const input = path.join(directory, 'input');
  const output = path.join(directory, 'output');
  const inputs = [input];
  const step = { name: 'copy', doing: 'copying', inputs: () => inputs, outputs: () => [output], run: async () => writeFileSync(output, readFileSync(input)) };

  test('runs when what it makes is missing, and is done after that', async () => {
    writeFileSync(input, 'one');
    expect(staleReason(step, where)).toBe('output is missing');
    await runStep(step, where);
    expect(staleReason(step, where)).toBeUndefined();
  });

  test('does not run because of a new time alone', () => {
    utimesSync(input, 1, 1);
    expect(staleReason(step, where)).toBeUndefined();
  });

  test('runs when a file that it is made from changed, came or went', async () => {
    writeFileSync(input, 'two');
    expect(staleReason(step, where)).toBe('input changed');
    await runStep(step, where);
    const second = path.join(directory, 'second');
    writeFileSync(second, '');
    inputs.push(second);
    expect(staleReason(step, where)).toBe('second changed');
    await runStep(step, where);
    inputs.pop();
    expect(staleReason(step, where)).toBe('second changed');
  });

  test('runs again after it failed, and when its stamp is damaged', async () => {
    await runStep(step, where);
    writeFileSync(input, 'three');
    await expect(runStep({ ...step, run: () => Promise.reject(new Error('no')) }, where)).rejects.toThrow('no');
    expect(staleReason(step, where)).toBe('input changed');
    await runStep(step, where);
    writeFileSync(path.join(where.stamps, 'copy.json'), '{"inp');
    expect(staleReason(step, where)).toBe('input changed');
  });

  test('runs again when a file was edited while it ran', async () => {
    await runStep({ ...step, run: async () => writeFileSync(input, 'edited meanwhile') }, where);
    expect(staleReason(step, where)).toBe('input changed');
  });
});

describe('the lock of a checkout', () => {
  const lock = path.join(directory, 'cache', 'lock');

  test('runs one at a time, in spite of errors', async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await new Promise(setImmediate);
      inside--;
      if (most === 1) throw new Error('no');
    };
    let waited = 0;
    const options = { pollMs: 1, onWait: () => void waited++ };
    const all = await Promise.allSettled([1, 2, 3].map(() => withLock(lock, work, options)));
    expect(waited).toBe(2);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(most).toBe(1);
    expect(existsSync(lock)).toBe(false);
  });

  test('is taken over from a process that has died', async () => {
    mkdirSync(lock, { recursive: true });
    writeFileSync(path.join(lock, 'pid'), '999999999');
    expect(isStale(lock)).toBe(true);
    expect(await withLock(lock, async () => readFileSync(path.join(lock, 'pid'), 'utf8'), { pollMs: 1, onWait: () => {} })).toBe(String(process.pid));
  });

  test('is left to one that lives, unless it was silent for half a minute', () => {
    mkdirSync(lock, { recursive: true });
    writeFileSync(path.join(lock, 'pid'), String(process.pid));
    expect(isStale(lock)).toBe(false);
    expect(isStale(lock, Date.now() + 31_000)).toBe(true);
    rmSync(path.join(lock, 'pid'));
    expect(isStale(lock)).toBe(false);
    rmSync(lock, { recursive: true });
  });
});

describe('the data model', () => {
  test('has the same models for both databases, and types for Pothos of one', () => {
    const [sqlite, postgresql] = [dataModel('sqlite'), dataModel('postgresql')];
    expect(sqlite.match(/^model \w+/gm)).not.toBeNull();
    expect(sqlite.match(/^model \w+/gm)).toEqual(postgresql.match(/^model \w+/gm));
    expect(sqlite).toMatch(/provider\s*=\s*"sqlite"/);
    expect(postgresql).toMatch(/provider\s*=\s*"postgresql"/);
    expect(postgresql).not.toMatch(/prisma-pothos-types|sqlite"/);
  });
});
