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
    plan: { session: { ...given, allowFiles: ['/flag', '/file'] } },
  });
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
