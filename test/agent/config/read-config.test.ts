import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { readAgentConfig } from '../../../src/agent/config/read-config.ts';
import { covering, other } from '../../support/certificates.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const directory = temporaryDirectory();
const file = path.join(directory, 'agent.toml');
const nothing = { servers: undefined, tls: undefined, vkey: undefined, allowFiles: [] };

/** Saves the file, and others beside it, and reads it. */
function read(text: string, others: Readonly<Record<string, string>> = {}, given: Partial<Parameters<typeof readAgentConfig>[1]> = {}) {
  writeFileSync(file, text);
  for (const [name, content] of Object.entries(others)) writeFileSync(path.join(directory, name), content);
  return readAgentConfig(file, { ...nothing, ...given });
}

test('paths count from the file, and what they name is read and watched', async () => {
  const outcome = await read(
    `server = "h:1"\nvkey_file = "key"\nallow_files = ["share"]\n[tunnels.f]\ntype = "file"\nlocal_path = "share/x"\n`
      + `[hosts.h]\nhost = "h.example"\ntargets = ["1"]\ncertificate = "cert.pem"\nprivate_key = "key.pem"\n`,
    { key: 'the key\n', 'cert.pem': covering.certificate, 'key.pem': covering.key },
  );
  expect(outcome).toMatchObject({
    files: [file, ...['key', 'cert.pem', 'key.pem'].map((name) => path.join(directory, name))],
    plan: {
      session: { vkey: 'the key', allowFiles: [path.join(directory, 'share')] },
      entries: [{ name: 'f', tunnel: { localPath: path.join(directory, 'share/x') } }, {
        name: 'h',
        host: { certificate: covering.certificate, privateKey: covering.key },
      }],
    },
  });
});

test('flags and environment go before the file', async () => {
  const given = { servers: [{ host: 'flag', port: 2 }], vkey: 'flag', allowFiles: ['/flag'], tls: { fingerprint: '' } };
  expect(await read('server = "file:1"\nvkey = "file"\nallow_files = ["/file"]\n', {}, given)).toMatchObject({
    plan: { servers: given.servers, tls: given.tls, session: { ...given, allowFiles: ['/flag', '/file'] } },
  });
});

test('everything of the file is in the plan, tunnels before hosts', async () => {
  const digits = 'ab'.repeat(32);
  const outcome = await read(
    `server = "a:1,b:2"\nvkey = "k"\ntls_fingerprint = "${digits}"\nallow_files = ["/x", "y"]\n[hosts.h]\nhost = "h.example"\ntargets = ["2", "localhost:3"]\n`
      + 'health = { type = "http", interval = 7 }\n[tunnels.t]\ntype = "secret"\npassword = "p"\ntargets = ["1"]\nhealth = {}\n[tunnels.s]\ntype = "socks5"\n'
      + '[visitors.v]\ntype = "p2p"\npassword = "q"\nlisten = 5\n',
  );
  const servers = [{ host: 'a', port: 1 }, { host: 'b', port: 2 }];
  const tls = { fingerprint: digits };
  const tcp = { type: 'tcp', intervalMs: 10_000, timeoutMs: 3000, maxFailed: 3, path: '' };
  expect(outcome).toEqual({
    files: [file],
    plan: {
      servers,
      tls,
      session: { servers, tls, vkey: 'k', allowFiles: ['/x', path.join(directory, 'y')] },
      entries: [
        { kind: 'tunnel', name: 't', tunnel: expect.objectContaining({ mode: 'secret', targets: ['1'] }) },
        { kind: 'tunnel', name: 's', tunnel: expect.objectContaining({ mode: 'socks5', localPath: '' }) },
        { kind: 'host', name: 'h', host: expect.objectContaining({ host: 'h.example', certificate: '', privateKey: '' }) },
      ],
      checks: [
        { name: 'tunnel t', targets: ['127.0.0.1:1'], health: tcp },
        { name: 'host h', targets: ['127.0.0.1:2', 'localhost:3'], health: { ...tcp, type: 'http', intervalMs: 7000, path: '/' } },
      ],
      visitors: new Map([['v', { type: 'p2p', password: 'q', listen: { host: '127.0.0.1', port: 5 } }]]),
    },
  });
});

test('over TLS if the file says so, with the fingerprint that it names', async () => {
  const tlsOf = async (text: string, given = {}) => {
    const outcome = await read(`server = "a:1"\nvkey = "k"\n${text}`, {}, given);
    return 'plan' in outcome ? [outcome.plan.tls, outcome.plan.session?.tls] : outcome.problems;
  };
  const [none, usual] = [undefined, { fingerprint: '' }];
  expect(await tlsOf('')).toEqual([none, none]);
  expect(await tlsOf('tls = true')).toEqual([usual, usual]);
  const given = { fingerprint: 'cd'.repeat(32) };
  expect(await tlsOf('tls = true', { tls: given })).toEqual([given, given]);
});

test('a file that the configuration names has at most 64 KB; one with nothing in it is no key', async () => {
  const key = 'server = "h:1"\nvkey_file = "key"';
  expect(await read(key, { key: `k${' '.repeat(64 * 1024 - 1)}` })).toMatchObject({ plan: { session: { vkey: 'k' } } });
  expect(await read(key, { key: `k${' '.repeat(64 * 1024)}` })).toMatchObject({
    files: [file, path.join(directory, 'key')],
    problems: [expect.stringMatching(/:2: vkey_file: .* is longer than 65536 bytes$/), expect.stringMatching(/:2: vkey_file: the file is empty$/)],
  });
});

test('a host whose certificate makes it longer than an entry may be is a problem', async () => {
  const host = 'server = "h:1"\nvkey = "k"\n[hosts.h]\nhost = "h.example"\ntargets = ["1"]\ncertificate = "cert.pem"\nprivate_key = "key.pem"\n';
  const others = (count: number) => ({ 'cert.pem': covering.certificate.repeat(count), 'key.pem': covering.key });
  const most = Math.floor(59_000 / JSON.stringify(covering.certificate).length);
  expect(await read(host, others(most))).toMatchObject({ plan: { entries: [{ name: 'h' }] } });
  expect(await read(host, others(most + 2))).toMatchObject({ problems: [expect.stringMatching(/:3: hosts\.h: is too long with its certificate/)] });
});

test('visitors alone need no key', async () => {
  expect(await read('server = "h:1"\n[visitors.v]\ntype = "p2p"\npassword = "p"\nlisten = 0\n')).toMatchObject({ plan: { session: undefined } });
});

test('health checks are found, with targets as the server spells them', async () => {
  expect(await read('server = "h:1"\nvkey = "k"\n[tunnels.t]\ntype = "tcp"\ntargets = ["22"]\nhealth = {}\n')).toMatchObject({
    plan: { checks: [{ name: 'tunnel t', targets: ['127.0.0.1:22'], health: { type: 'tcp', intervalMs: 10_000 } }] },
  });
});

test.each([
  ['no server', 'vkey = "k"', 'server: is missing: give it here or as --server'],
  ['no key', 'server = "h:1"', 'vkey: is missing: give vkey or vkey_file, or set ADIT_VKEY'],
  ['a key that is not there', 'server = "h:1"\nvkey_file = "none"', ':2: vkey_file: ENOENT'],
  ['a number instead of a server, below blank lines', '\n\nserver = 5\n', ':3: server: '],
  [
    'a certificate without its key',
    'server = "h:1"\nvkey = "k"\n[hosts.h]\nhost = "h.example"\ntargets = ["1"]\ncertificate = "cert.pem"\nprivate_key = "key.pem"',
    ':6: hosts.h.certificate: cannot be used: ',
  ],
])('%s is a problem', async (_, text, expected) => {
  const outcome = await read(text, { 'cert.pem': covering.certificate, 'key.pem': other.key });
  const problems = 'problems' in outcome ? outcome.problems.join('\n') : '';
  expect(problems).toContain(expected);
});

test('a file that is not there is a problem', async () => {
  expect(await readAgentConfig('/nowhere/agent.toml', nothing)).toEqual({ files: ['/nowhere/agent.toml'], problems: [expect.stringContaining('ENOENT')] });
});
