import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { reason, reasons } from '../../src/panel/language/zh/reasons.ts';

const root = path.resolve(import.meta.dirname, '../../src');

/** The longest part of a pattern that stands for itself. */
function literalOf({ source }: RegExp): string {
  const parts = source.replaceAll(/^\^|\$$|\[\^\]\*/g, '\n').replaceAll(/(?<!\\)\([^)]*\)|\\w\+|\\S\+/g, '\n').replaceAll(/\\(.)/g, '$1').split('\n');
  return parts.map((part) => part.replace(/^[\s:]+/, '')).reduce((longest, part) => part.length > longest.length ? part : longest, '');
}

test('each reason that the panel has in Chinese is one of the server', () => {
  const said = ['schema', 'rules'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => path.join(root, folder, name))
  )
    .filter((file) => file.endsWith('.ts') && !file.includes('generated')).map((file) => readFileSync(file, 'utf8')).join('\n');
  expect(reasons.map(([pattern]) => literalOf(pattern)).filter((text) => !said.includes(text))).toEqual([]);
});

test('a reason keeps its values; one that the panel does not know stays as it is', () => {
  expect(reason('longer than 255 characters')).toBe('最多 255 个字符。');
  expect(reason('"$1 no port" is not host:port')).toBe('“$1 no port”不是 host:port 的形式。');
  expect(reason('something else')).toBe('something else');
});
