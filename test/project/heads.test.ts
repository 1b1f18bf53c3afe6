import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const src = path.resolve(import.meta.dirname, '../../src');

/** A head that is put together by hand, or a text that becomes bytes by losing all but the low byte of each character. */
const byHand = [
  /HTTP\/1\.[01x$][^'"`\n]*\\r\\n/,
  /\$\{[^}]*\}: ?\$\{[^}]*\}\\r\\n/,
  /\.write\([^;]*'(?:latin1|binary|ascii)'/,
  /Buffer\.from\([^()]*'(?:latin1|binary|ascii)'/,
];

/** The lines of `text` that write a head, or bytes of a head, without the one writer. */
function violations(text: string): string[] {
  return text.split('\n').filter((line) => !/^\s*(?:\*|\/\/|\/\*)/.test(line) && byHand.some((pattern) => pattern.test(line)));
}

test('heads are written in one place: elsewhere no text becomes Latin-1, and no line of a head is put together', () => {
  const found = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts') && !name.includes('generated/')).flatMap((name) =>
    violations(readFileSync(path.join(src, name), 'utf8')).map((line) => `${name}: ${line.trim()}`)
  );
  expect(found.toSorted()).toEqual([
    // The one writer, which takes sound fields only.
    "engine/http/head.ts: bytes.write(head, 'latin1');",
    'engine/http/head.ts: for (const { name, value } of fields) text += `${name}: ${value}\\r\\n`;',
    // A constant, said to what is no request; the agent's file server is Node's.
    expect.stringMatching(/^stream-handlers\/files\/file-server\.ts: socket\.end\(`HTTP\/1\.1 \$\{status\} /),
  ]);
});

test('a head that is written elsewhere would be found', () => {
  for (
    const line of [
      'socket.write(`HTTP/1.1 200 OK\\r\\nX: ${x}\\r\\n\\r\\n`)',
      "bytes.write(text, 'latin1')",
      "Buffer.from(text, 'binary')",
      'text += `${name}: ${value}\\r\\n`',
    ]
  ) expect(violations(line)).toHaveLength(1);
  expect(violations("bytes.toString('latin1')")).toEqual([]);
});
