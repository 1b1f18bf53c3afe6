import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { onSave } from './watch.ts';

let base: string;
const saved: string[] = [];

beforeAll(() => {
  base = mkdtempSync(path.join(tmpdir(), 'adit-watch-'));
  mkdirSync(path.join(base, 'src/rules'), { recursive: true });
  writeFileSync(path.join(base, 'src/rules/a.ts'), '');
  onSave(
    async (file) => {
      saved.push(file);
    },
    ['src'],
    base,
  );
});
afterAll(() => rmSync(base, { recursive: true }));

async function expectSaved(file: string, save: () => void): Promise<void> {
  const before = saved.length;
  save();
  await eventually(() => saved.length, (count) => count > before);
  expect(saved.at(-1)).toBe(file);
}

test('a file is noticed each time it is saved, in place or by renaming another one over it', async () => {
  const file = path.join(base, 'src/rules/a.ts');
  for (let n = 0; n < 3; n++) {
    await expectSaved('src/rules/a.ts', () => {
      writeFileSync(`${file}~`, String(n));
      renameSync(`${file}~`, file);
    });
  }
  await expectSaved('src/rules/a.ts', () => writeFileSync(file, 'in place'));
});

test('so are scripts', async () => {
  await expectSaved('src/rules/page.js', () => writeFileSync(path.join(base, 'src/rules/page.js'), ''));
});
