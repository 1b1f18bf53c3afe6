import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, expect, test } from '@jest/globals';
import { PassedSelfTests } from '../../src/agent/passed-self-tests.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';

afterAll(removeScratchDirectories);

test('a self-test that has passed is remembered for this backend, this program and this Node', () => {
  const directory = path.join(scratchDirectory(), 'run');
  const passed = new PassedSelfTests(directory, '1.2.3');
  expect(passed.has('captured')).toBe(false);
  passed.add('captured');
  expect(passed.has('captured')).toBe(true);
  expect(passed.has('onread')).toBe(false);
  expect(new PassedSelfTests(directory, '1.2.3').has('captured')).toBe(true);
  expect(new PassedSelfTests(directory, '1.2.4').has('captured')).toBe(false);

  const file = path.join(directory, 'sockets-captured');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = readFileSync(file, 'utf8');
  const { size, mtimeMs } = statSync(process.execPath);
  expect(text.split('\n')).toEqual(['1.2.3', process.version, process.arch, process.execPath, ...[size, mtimeMs].map(String), os.release()]);
  for (const other of [text.replace(process.version, 'v1.0.0'), text.replace(process.execPath, '/other/node'), text.slice(0, -1), '']) {
    writeFileSync(file, other);
    expect(passed.has('captured')).toBe(false);
  }
});

test('a directory to which others have access is neither believed nor used', () => {
  const directory = path.join(scratchDirectory(), 'run');
  const passed = new PassedSelfTests(directory, '1.2.3');
  passed.add('captured');
  for (const [mode, usable] of [[0o750, false], [0o705, false], [0o711, false], [0o700, true]] as const) {
    chmodSync(directory, mode);
    expect([mode, passed.has('captured')]).toEqual([mode, usable]);
  }

  const other = path.join(scratchDirectory(), 'run');
  mkdirSync(other, { mode: 0o777 });
  chmodSync(other, 0o777);
  new PassedSelfTests(other, '1.2.3').add('captured');
  expect(existsSync(path.join(other, 'sockets-captured'))).toBe(false);
});

test('without a usable directory nothing is remembered', () => {
  const file = path.join(scratchDirectory(), 'file');
  writeFileSync(file, '');
  const passed = new PassedSelfTests(path.join(file, 'run'), '1.2.3');
  passed.add('captured');
  expect(passed.has('captured')).toBe(false);
});
