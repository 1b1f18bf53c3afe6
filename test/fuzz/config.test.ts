import fc from 'fast-check';
import { expect, test } from '@jest/globals';
import { stringify } from 'smol-toml';
import { z } from 'zod';
import { parseAgentConfig } from '../../src/agent/config/parse-config.ts';
import { type ByteParser, damaged, FUZZ_MS, fuzz, fuzzed, lines } from '../support/fuzz/fuzz.ts';

const name = fc.constantFrom('ssh', 'a', 'b c', 'ü', '_x', '__proto__', 'x'.repeat(64));
const tunnel = fc.oneof(
  fc.record({
    type: fc.constantFrom('tcp', 'udp'),
    targets: fc.array(fc.constantFrom('22', '127.0.0.1:80', '[::1]:1', 'x', ''), { maxLength: 3 }),
    port: fc.integer({ min: -1, max: 65_536 }),
  }, { requiredKeys: ['type'] }),
  fc.record({
    type: fc.constantFrom('httpProxy', 'socks5', 'secret', 'p2p', 'file', 'no'),
    password: fc.string(),
    local_path: fc.string(),
    targets: fc.constant(['1']),
  }, { requiredKeys: ['type'] }),
);
const host = fc.record({
  host: fc.constantFrom('a.example', '*.b', '', 'x y'),
  targets: fc.array(fc.constantFrom('80', 'x'), { maxLength: 2 }),
  scheme: fc.constantFrom('http', 'https', 'all', 'x'),
}, { requiredKeys: [] });
const visitor = fc.record({
  type: fc.constantFrom('secret', 'p2p', 'tcp'),
  password: fc.string(),
  listen: fc.oneof(fc.integer({ min: -1, max: 70_000 }), fc.constantFrom('127.0.0.1:0', ':', '1')),
}, { requiredKeys: ['type'] });
const config = fc.record({
  server: fc.constantFrom('a:1', '[::1]:8024', 'a', ''),
  vkey: fc.string(),
  tls: fc.boolean(),
  tls_fingerprint: fc.constantFrom('ab'.repeat(32), 'x'),
  allow_files: fc.array(fc.string(), { maxLength: 2 }),
  tunnels: fc.dictionary(name, tunnel, { maxKeys: 3, noNullPrototype: true }),
  hosts: fc.dictionary(name, host, { maxKeys: 2, noNullPrototype: true }),
  visitors: fc.dictionary(name, visitor, { maxKeys: 2, noNullPrototype: true }),
}, { requiredKeys: [] }).map((value) => Buffer.from(stringify(value)));
const words = [
  '[tunnels.a]',
  '[[tunnels]]',
  '[hosts.b]',
  '[visitors."c"]',
  'server = ',
  '"a:1"',
  'type = "tcp"',
  'targets = ["22"]',
  '\n',
  '=',
  '{',
  '}',
  '[',
  ']',
  '"""',
  "'",
  '#',
  '\\u0000',
  'x.y.z = 1',
  '0x',
  '1979-05-27',
];

const parser: ByteParser = {
  name: "an agent's configuration file",
  input: fc.oneof(damaged(config), lines(words)),
  whole: true,
  read: ([bytes]) => {
    const parsed = parseAgentConfig(String(bytes));
    if ('problems' in parsed) {
      // Each tells its reader something, and none of them a key.
      if (parsed.problems.length === 0 || parsed.problems.some(({ text }) => text === '')) throw new Error('refused without a reason');
      return;
    }
    if (parsed.config.server?.every(({ port }) => port > 0) === false) throw new Error('a server without a port');
  },
};

test('any text is a configuration, or all of its problems are reported at once', () => {
  expect(() => fuzzed(parser)).not.toThrow();
}, FUZZ_MS);

test('a key that is read is the key that was written', () => {
  fuzz({ name: 'a key of an agent', input: fc.string({ minLength: 1, maxLength: 100, unit: 'grapheme' }), format: z.string() }, (vkey) => {
    const parsed = parseAgentConfig(stringify({ vkey }));
    if ('config' in parsed ? parsed.config.vkey !== vkey : vkey.length <= 255) throw new Error('another key, or none');
  });
}, FUZZ_MS);
