import fc from 'fast-check';
import { expect, test } from '@jest/globals';
import { cleanText } from '../../src/wire/peer-text.ts';
import { agentInfoSchema, agentMessageSchema } from '../../src/wire/agent-messages.ts';
import { fromVisitorSchema, visitorInfoSchema } from '../../src/wire/visit-messages.ts';
import { anyCharacter } from '../support/any-character.ts';
import { declaredTunnelOf } from '../support/declared-entries.ts';
import { anyText, cases } from '../support/outside-input.ts';

const unfit = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;
const texts = fc.oneof(
  anyText,
  fc.string({ unit: anyCharacter, maxLength: 400 }),
  fc.constantFrom('a\0b', '\ud800', '\udc00x', 'a\u2028b', `${'x'.repeat(63)}😀`),
);
const check = { type: fc.constantFrom('tcp', 'http'), intervalMs: fc.constant(1000), timeoutMs: fc.constant(1000), maxFailed: fc.constant(1), path: texts };
const tunnel = fc.record({
  mode: fc.constant('tcp'),
  port: fc.nat(65_535),
  serverIp: texts,
  targets: fc.array(texts, { maxLength: 3 }),
  password: texts,
  localPath: texts,
  stripPrefix: texts,
  proxyProtocol: fc.constant(''),
  remark: texts,
});
const host = fc.record({
  host: texts,
  platformDomainId: texts,
  platformPrefix: texts,
  location: texts,
  scheme: fc.constant('all'),
  targets: fc.array(texts, { maxLength: 3 }),
  headers: fc.array(texts, { maxLength: 3 }),
  hostChange: texts,
  certificate: texts,
  privateKey: texts,
  autoHttps: fc.boolean(),
  acme: fc.boolean(),
  remark: texts,
});
const name = texts.filter((text) => text.length >= 1 && text.length <= 64);
const target = fc.record({
  target: texts.filter((text) => text.length <= 300),
  healthy: fc.boolean(),
  failures: fc.nat(1e9),
  ageMs: fc.nat(1e9),
  error: texts,
});

/** Every kind of message that an agent or visitor can send, and the fields whose texts people see: the others are for rules to judge. */
const messages: readonly [string, (input: unknown) => unknown, fc.Arbitrary<unknown>, ReadonlySet<string>][] = [
  [
    'what an agent says of itself',
    (input) => agentInfoSchema.parse(input),
    fc.record({ version: texts, localAddress: texts, configFile: fc.boolean() }),
    new Set(['version', 'localAddress']),
  ],
  [
    'what a visitor says of itself',
    (input) => visitorInfoSchema.parse(input),
    fc.record({ version: texts, type: fc.constant('secret') }),
    new Set(['version']),
  ],
  ['bye', (input) => agentMessageSchema.parse(input), fc.record({ type: fc.constant('bye'), code: texts, text: texts }), new Set(['code', 'text'])],
  ["a visitor's bye", (input) => fromVisitorSchema.parse(input), fc.record({ type: fc.constant('bye'), code: texts, text: texts }), new Set(['code', 'text'])],
  ['a tunnel', (input) => agentMessageSchema.parse(input), fc.record({ type: fc.constant('tunnel'), name, tunnel }), new Set(['name', 'remark'])],
  ['a host', (input) => agentMessageSchema.parse(input), fc.record({ type: fc.constant('host'), name, host }), new Set(['name', 'remark'])],
  [
    'a withdrawal',
    (input) => agentMessageSchema.parse(input),
    fc.record({ type: fc.constant('withdraw'), kind: fc.constant('tunnel'), name }),
    new Set(['name']),
  ],
  [
    'health',
    (input) => agentMessageSchema.parse(input),
    fc.record({ type: fc.constant('health'), of: fc.constant('tunnel'), id: fc.nat(), check: fc.record(check), targets: fc.array(target, { maxLength: 3 }) }),
    new Set(['error', 'path']),
  ],
];

function walk(value: unknown, field: string, see: (field: string, text: string) => void): void {
  if (typeof value === 'string') see(field, value);
  else if (Array.isArray(value)) { for (const one of value) walk(one, field, see); }
  else if (typeof value === 'object' && value !== null) { for (const [key, one] of Object.entries(value)) walk(one, key, see); }
}

test.each(messages)('%s: whatever its texts hold, it is read, and nothing unfit is left in them', (_, parse, input, shown) => {
  fc.assert(
    fc.property(input, (message) => {
      walk(parse(JSON.parse(JSON.stringify(message))), '', (field, text) => {
        if (/\p{Cs}/u.test(text)) throw new Error(`${field} has half a character`);
        if (shown.has(field) && unfit.test(text)) throw new Error(`${field} has an unfit character`);
      });
    }),
    { numRuns: cases.numRuns / 10 },
  );
});

test('an unfit character is replaced, and a text that is too long is cut between characters', () => {
  expect(cleanText('1.0\0\r\n\ud800', 64)).toBe('1.0\ufffd\ufffd\ufffd\ufffd');
  expect(cleanText(`${'x'.repeat(63)}😀`, 64)).toBe('x'.repeat(63));
  expect(agentInfoSchema.parse({ version: 'v'.repeat(4000) }).version).toHaveLength(64);
});

test('what has a meaning is taken as it is: the rules of its field judge it', () => {
  const given = declaredTunnelOf({ mode: 'secret', targets: ['a\0:1'], password: 'tab\tand \u2028', remark: 'one\ntwo' });
  expect(agentMessageSchema.parse({ type: 'tunnel', name: 'ä b', tunnel: given })).toEqual({
    type: 'tunnel',
    name: 'ä b',
    tunnel: { ...given, remark: 'one\ufffdtwo' },
  });
});
