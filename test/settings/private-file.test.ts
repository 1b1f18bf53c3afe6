import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { keepPrivately, writePrivately } from '../../src/settings/private-file.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();

describe.each([['writePrivately', async (file: string, text: string) => writePrivately(file, text)], ['keepPrivately', keepPrivately]])('%s', (name, write) => {
  test('replaces a file, which only this user may read', async () => {
    const file = path.join(directory, name, 'new', 'file');
    await write(file, 'one');
    await write(file, 'two');
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['two', 0o600]);
    expect([readdirSync(path.dirname(file)), statSync(path.dirname(file)).mode & 0o777]).toEqual([['file'], 0o700]);
  });

  test('leaves nothing behind if it fails: a server on a full disk starts again and again', async () => {
    const place = path.join(directory, name, 'taken');
    mkdirSync(path.join(place, 'file', 'not empty'), { recursive: true });
    await expect(write(path.join(place, 'file'), 'text')).rejects.toThrow(/EISDIR|ENOTEMPTY/);
    expect(readdirSync(place)).toEqual(['file']);
  });
});
