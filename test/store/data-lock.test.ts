import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { lockDataDir } from '../../src/store/data-lock.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();

test('a data directory is locked until it is given back, and one that cannot be locked is not said to be in use', async () => {
  const unlock = lockDataDir(directory);
  expect(() => lockDataDir(directory)).toThrow(/^another server is running on the data directory/);
  await unlock();
  await lockDataDir(directory)();
  const odd = path.join(directory, 'odd');
  mkdirSync(path.join(odd, 'adit.lock'), { recursive: true });
  expect(() => lockDataDir(odd)).toThrow(/^can't lock the data directory/);
});
