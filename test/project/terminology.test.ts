import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const root = path.resolve(import.meta.dirname, '../..');
const files = execFileSync('git', ['ls-files', 'src', 'bench', 'prisma', 'docs', 'test', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n').filter((file) =>
    /\.(ts|mjs|graphql|html|prisma|cjs|md)$/.test(file)
    && !/\/generated\/|^prisma\/migrations\/|released\.graphql$|^test\/project\/terminology\.test\.ts$/.test(file)
  );

/** Words that were private jargon here, with the terms of the field to use instead. */
const banned: readonly (readonly [word: RegExp, instead: string])[] = [
  [
    /\b(?:in|by|out of|takes? its|takes?|their) turns?\b(?! off)|\bturns? of the event loop\b|[a-z]Turns?\b/,
    'round-robin order, rotation, time slice, queue, iteration of the event loop',
  ],
  [/stretch/i, 'page, range, bucket'],
  [/patien(?:ce|t\b|tly)/i, 'timeout, wait'],
  [/\blinger/i, 'delayed close, drain'],
  [/rendezvous/i, 'STUN server, signaling'],
  [/\btold\b(?! apart)|[a-z]Told\b/, 'sent, reported, notified, published, logged, shown'],
  [/\bstanding\b|\bhow (?:it|they|things|he|she|\w+ \w+) stands?\b/i, 'status, state'],
  [/\blets? (?:\w+ )?in\b|\bletIn\b|\bLetIn/, 'allow, admit, accept, authorize'],
  [/\bwhom(?:ever)?\b|\bwhoever\b/i, 'the client, the user, the owner: name them'],
  [/\bhis\b|\bhim(?:self)?\b/i, 'its, the client, the visitor'],
  [/\bshaken\b|\bmend(?:s|ed|ing)?\b/i, 'handshakeDone, fix'],
  [/\bpass(?:es)? (?:it|them) by\b|\bfar end\b|\bin the very\b|\bgives? up on\b/i, 'bypass, agent, peer, in the same, time out'],
  [/\banew\b/i, 'again, new'],
  [/\bstrangers?\b/i, 'an unauthenticated client, an attacker, anybody'],
  [/\blest\b|\bin force\b/i, 'so that ... not; active, effective'],
  [
    /\b(?:behaviour|favour|neighbour|learnt)|\b(?:authoris|recognis|sanitis|serialis|synchronis|summaris|normalis|initialis)[ei](?!\S*\.ts)/i,
    'American spelling',
  ],
  [/\b(?:cancelled|dialled|dialling|signalling)\b|\bfulfils?\b/i, 'American spelling'],
  [/\bhears? of\b/i, 'receives, is notified of, callback'],
];

/** Where a word is right. */
const exceptions: readonly { readonly file: string; readonly text: string }[] = [
  // The class Turns (wire/turns.ts), which divides the event loop, and what is made of it.
  { file: 'src/wire/mux.ts', text: 'controlTurns' },
  { file: 'src/store/sqlite/answer-turns.ts', text: 'inTurn' },
  { file: 'src/store/sqlite/worker-link.ts', text: 'inTurn' },
  // The former name of the option --wait.
  { file: 'bench/api.ts', text: 'patience' },
  { file: 'bench/tunnel.ts', text: 'patience' },
];

test('code, descriptions, command line and documents use the terms of the field', () => {
  const found = files.flatMap((file) =>
    readFileSync(path.join(root, file), 'utf8').split('\n').flatMap((line, index) => {
      const allowed = exceptions.filter((each) => each.file === file).reduce((text, each) => text.replaceAll(each.text, ''), line);
      return banned.flatMap(([word, instead]) => {
        const match = word.exec(allowed);
        return match ? [`${file}:${index + 1}: "${match[0]}" (use: ${instead})`] : [];
      });
    })
  );
  expect(found).toEqual([]);
});
