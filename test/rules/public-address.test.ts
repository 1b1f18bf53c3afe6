import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { agentCommand, publicAddress, publicUrls } from '../../src/rules/public-address.ts';

const host = { host: 'a.example', location: '/', scheme: 'all', autoHttps: false };
const usual = { httpPort: 80, httpsPort: 443 };

test.each(
  [
    [host, usual, ['https://a.example/', 'http://a.example/']],
    [{ ...host, autoHttps: true }, usual, ['https://a.example/']],
    [{ ...host, autoHttps: true }, { httpPort: 80, httpsPort: 0 }, ['http://a.example/']],
    [{ ...host, scheme: 'http', location: '/a b' }, { httpPort: 8080, httpsPort: 8443 }, ['http://a.example:8080/a%20b']],
    [{ ...host, scheme: 'https' }, { httpPort: 8080, httpsPort: 8443 }, ['https://a.example:8443/']],
    [{ ...host, scheme: 'https' }, { httpPort: 80, httpsPort: 0 }, []],
    [{ ...host, host: '2001:db8::1', scheme: 'http' }, { httpPort: 8080, httpsPort: 0 }, ['http://[2001:db8::1]:8080/']],
    [{ ...host, host: '2001:db8::1', scheme: 'http' }, usual, ['http://[2001:db8::1]/']],
    [{ ...host, host: '*.example' }, usual, []],
  ] as const,
)('the URLs of %j at %j are %j', (row, ports, urls) => {
  expect(publicUrls(row, ports)).toEqual(urls);
  for (const url of urls) expect(new URL(url).href).toBe(url);
});

test.each([
  [{ port: 9000, serverIp: '' }, 'adit.example', 'adit.example:9000'],
  [{ port: 9000, serverIp: '::' }, '2001:db8::1', '[2001:db8::1]:9000'],
  [{ port: 9000, serverIp: '192.0.2.1' }, 'adit.example', '192.0.2.1:9000'],
  [{ port: 9000, serverIp: '192.0.2.1' }, '', '192.0.2.1:9000'],
  [{ port: 9000, serverIp: '0.0.0.0' }, '', null],
  [{ port: 0, serverIp: '' }, 'adit.example', null],
])('visitors reach %j of %j at %j', (tunnel, name, address) => {
  expect(publicAddress(tunnel, name)).toBe(address);
});

/** What a shell makes of a command: the key, and the words after the program's name. */
function run(command: string): string[] {
  return execFileSync('/bin/sh', ['-c', `node() { printf '%s\\0' "$ADIT_VKEY" "$@"; }\n${command}`], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

test.each(['plain-key_1.2', "it's", '$(touch x) `y` "z" \\ ; & | * ~ #', 'zwei Wörter', '-v', '\n'])(
  'a shell gives the agent the key %j as it is, and pins the certificate of the server',
  (vkey) => {
    expect(run(agentCommand(vkey, 'adit.example', { port: 8024, tls: { port: 8025, fingerprint: 'ab'.repeat(32) } }))).toEqual([
      vkey,
      'adit-agent.mjs',
      'agent',
      '--server',
      'adit.example:8025',
      '--tls-fingerprint',
      'ab'.repeat(32),
    ]);
    expect(run(agentCommand(vkey, '2001:db8::1', { port: 8024, tls: { port: 0, fingerprint: '' } }))).toEqual([
      vkey,
      'adit-agent.mjs',
      'agent',
      '--server',
      '[2001:db8::1]:8024',
    ]);
  },
);

test("the server's name and fingerprint are quoted for the shell", () => {
  // Brackets are a pattern: zsh refuses one that matches no file.
  expect(agentCommand('key', '2001:db8::1', { port: 8024, tls: { port: 0, fingerprint: '' } })).toBe(
    "ADIT_VKEY=key node adit-agent.mjs agent --server '[2001:db8::1]:8024'",
  );
  const odd = "a'b $(exit 1) `exit 1`; exit 1 #";
  expect(run(agentCommand('key', odd, { port: 1, tls: { port: 2, fingerprint: odd } }))).toEqual([
    'key',
    'adit-agent.mjs',
    'agent',
    '--server',
    `${odd}:2`,
    '--tls-fingerprint',
    odd,
  ]);
});
