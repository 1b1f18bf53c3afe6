import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { nodeNameFile, ownNodeName, processName } from '../../src/settings/node-name.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();

test('each process of a server has a name of its own, which is not longer than any other', () => {
  expect([processName('a', 1), processName('a', 12)]).toEqual(['a-1', 'a-12']);
  expect([1, 12].map((number) => processName('x'.repeat(63), number))).toEqual([`${'x'.repeat(61)}-1`, `${'x'.repeat(60)}-12`]);
});

test('the name of a node is the setting, or else the host name of the first start', async () => {
  const dataDir = path.join(directory, 'new');
  expect(await ownNodeName({ node: 'mine', dataDir })).toBe('mine');
  await expect(readFile(nodeNameFile(dataDir), 'utf8')).rejects.toThrow('ENOENT');
  expect(await ownNodeName({ node: '', dataDir })).toBe(hostname());
  writeFileSync(nodeNameFile(dataDir), 'of-the-first-start\n');
  expect(await ownNodeName({ node: '', dataDir })).toBe('of-the-first-start');
  writeFileSync(nodeNameFile(dataDir), 'not a name\n');
  expect(await ownNodeName({ node: '', dataDir })).toBe(hostname());
});

test.each([
  ['Müller & Söhne.lan', 'M-ller---S-hne.lan'],
  ['x'.repeat(64), 'x'.repeat(63)],
  ['', 'node'],
])('the host name "%s" makes the name %s, which stays', async (machine, name) => {
  const dataDir = path.join(directory, `of ${name}`);
  expect(await ownNodeName({ node: '', dataDir }, machine)).toBe(name);
  expect(await ownNodeName({ node: '', dataDir }, 'another')).toBe(name);
});

test.each([['x'.repeat(63), 'kept'], ['x'.repeat(64), 'another'], ['two words', 'another'], ['', 'another']])(
  'a kept name "%s" counts if it is one: %s',
  async (text, which) => {
    const dataDir = path.join(directory, `kept ${which} ${text.length}`);
    mkdirSync(dataDir);
    writeFileSync(nodeNameFile(dataDir), ` ${text}\n`);
    expect(await ownNodeName({ node: '', dataDir }, 'another')).toBe(which === 'kept' ? text : 'another');
  },
);

test('a name that cannot be read is not replaced', async () => {
  const dataDir = path.join(directory, 'unreadable');
  mkdirSync(nodeNameFile(dataDir), { recursive: true });
  await expect(ownNodeName({ node: '', dataDir })).rejects.toThrow('EISDIR');
});
