import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { parseAgentConfig } from '../../src/agent/config/parse-config.ts';

const text = readFileSync(path.resolve(import.meta.dirname, '../../docs/agent.md'), 'utf8');
const example = /```toml\n([^]*?)```/.exec(text)?.[1] ?? '';

test('the example of docs/agent.md is a right configuration file with every type of entry', () => {
  const parsed = parseAgentConfig(example);
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  const { tunnels, hosts, visitors } = parsed.config;
  expect(new Set(Object.values(tunnels).map(({ type }) => type))).toEqual(new Set(['tcp', 'udp', 'httpProxy', 'socks5', 'file', 'secret', 'p2p']));
  expect(Object.keys(hosts)).toHaveLength(2);
  expect(Object.keys(visitors)).toHaveLength(1);
});

test('the same applies to the commented-out keys', () => {
  const whole = example.replaceAll(/^# (?=\w+ = )/gm, '').replace('vkey_file', 'vkey').replace('"ab12..."', `"${'ab'.repeat(32)}"`);
  expect(whole).toMatch(/^tls_fingerprint/m);
  expect(whole).toMatch(/^private_key/m);
  expect(parseAgentConfig(whole)).toHaveProperty('config');
});
