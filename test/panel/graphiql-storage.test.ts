import { expect, test } from '@jest/globals';
import { withoutSecretValues } from '../../src/panel/graphiql/storage.ts';

test.each([
  ['an argument', 'createUser(input: { username: "a", password: "x" })', 'createUser(input: { username: "a", password: "" })'],
  ['a variable in JSON', '{"webPassword" : "x\\"y", "remark": "r"}', '{"webPassword" : "", "remark": "r"}'],
  ['the default of a variable', 'query Q($apiToken: [String!]! = "x", $name: String = "n")', 'query Q($apiToken: [String!]! = "", $name: String = "n")'],
  ['a block', 'privateKey: """a\n\\"""b""" remark: "r"', 'privateKey: "" remark: "r"'],
  ['a text without an end', 'password: "x\n remark: "r"', 'password: ""\n remark: "r"'],
  ['a block without an end', 'password: """x "y" remark: "r"', 'password: ""'],
  ['a key of an object with a dash', '{"x-authorization": "x"}', '{"x-authorization": ""}'],
  ['a name that is not secret', 'remark: """a "password" b""" n: "x"', 'remark: """a "password" b""" n: "x"'],
])('the text of %s is kept without what is secret', (_, text, kept) => {
  expect(withoutSecretValues(text)).toBe(kept);
});

test.each([
  ['a word', 'key'.repeat(20_000)],
  ['blanks behind a colon', `key:${' '.repeat(60_000)}`],
  ['words behind a colon', `key: ${'a '.repeat(30_000)}`],
  ['secret words', 'key: '.repeat(12_000)],
  ['quotes', `key: ${'"\\'.repeat(30_000)}`],
])('%s of 60 KB takes no time that a user would notice', (_, text) => {
  const before = process.cpuUsage();
  withoutSecretValues(text);
  expect(process.cpuUsage(before).user).toBeLessThan(500_000);
});
