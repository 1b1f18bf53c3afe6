import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const root = path.resolve(import.meta.dirname, '../..');

test("src imports zod as a namespace: its export z brings all of zod's languages into every bundle, 0.4 MB", () => {
  const files = execFileSync('git', ['ls-files', 'src'], { cwd: root, encoding: 'utf8' }).split('\n').filter((file) => /\.tsx?$/.test(file));
  const imports = files.flatMap((file) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(/^import (.*) from 'zod(?:\/mini)?';$/gm)].map(([, names = '']) => ({ file, names }))
  );
  expect(imports.length).toBeGreaterThan(20);
  expect(imports.filter(({ names }) => names !== '* as z' && !names.startsWith('type '))).toEqual([]);
});
