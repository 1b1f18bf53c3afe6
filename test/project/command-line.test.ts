import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { version } from '../../src/version.ts';
import { isShort } from '../support/endurance.ts';
import { programOf, quickStart } from '../support/processes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
const root = path.resolve(import.meta.dirname, '../..');

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the compiled program in an empty directory and environment. @param words its file, if it is run in another way */
function adit(args: readonly string[], environment: Readonly<Record<string, string>> = {}, words = [...quickStart, programOf()]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...words, ...args], {
      cwd: directory,
      env: { PATH: process.env['PATH'] ?? '', ...environment },
    }, (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

describe('the command line', () => {
  test('prints its version', async () => {
    expect(await adit(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('refuses every wrong setting in a line of its own, with exit code 2', async () => {
    writeFileSync(path.join(directory, 'adit.toml'), 'bridge_port = "x"');
    const outcome = await adit(['server', '--http-port', '99999', '--colour', 'red', '--also=1'], { ADIT_NONSENSE: '1', ADIT_AUTH_KEY_FILE: '/nowhere' });
    writeFileSync(path.join(directory, 'adit.toml'), '');
    expect(outcome.code).toBe(2);
    expect(outcome.stdout).toBe('');
    expect(outcome.stderr.trimEnd().split('\n')).toEqual([
      `adit: bridge_port: must be a port (0 = any free one) from 0 to 65535, not "x" (${path.join(directory, 'adit.toml')})`,
      "adit: ADIT_AUTH_KEY_FILE: ENOENT: no such file or directory, open '/nowhere' (environment)",
      'adit: ADIT_NONSENSE: unknown setting; "adit server --help" lists them (environment)',
      'adit: --http-port: must be a port (0 = any free one) from 0 to 65535, not "99999" (command line)',
      'adit: --colour: unknown setting; "adit server --help" lists them (command line)',
      'adit: --also: unknown setting; "adit server --help" lists them (command line)',
    ]);
  });

  test.each([['npx adit', 'src/adit.mjs', 'server'], ['npm start', 'src/prepare.mjs', 'start']])('is that of %s, with all flags', async (_, file, command) => {
    // The environment keeps it from starting a server, whatever the flags are.
    const { code, stderr } = await adit([command, '--http-port', 'x'], { ADIT_NONSENSE: '1' }, [path.join(root, file)]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/ADIT_NONSENSE: .*\nadit: --http-port: must be a port/)]);
  });

  test('is run by npm start with fewer arenas of memory', () => {
    expect(JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')).scripts.start).toBe('MALLOC_ARENA_MAX=2 exec node src/prepare.mjs start');
  });

  test('prints the settings without starting anything or leaving anything behind', async () => {
    const before = readdirSync(directory);
    const { code, stdout } = await adit(['server', '--print-config', '--allow-local-proxy', '--auth-key', 'hush']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^allow_local_proxy = true +# --allow-local-proxy \(command line\)$/m);
    expect(stdout).toMatch(/^auth_key = "\*{8}"/m);
    expect(stdout).not.toContain('hush');
    expect(readdirSync(directory)).toEqual(before);
  });

  const ports = ['http-port', 'bridge-port', 'bridge-tls-port', 'vhost-http-port', 'vhost-https-port'];

  test.each(isShort ? ports.slice(0, 1) : ports)('says in one line that the port of --%s is taken, with exit code 1', async (taken) => {
    const occupant = net.createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const { port } = occupant.address() as AddressInfo;
    const host = `--${taken.replace(/-.*/, '')}-host`;
    const { code, stdout, stderr } = await adit([
      'server',
      '--log-level',
      'error',
      host,
      '127.0.0.1',
      ...ports.flatMap((name) => [`--${name}`, name === taken ? `${port}` : '0']),
    ]);
    occupant.close();
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `adit: can't listen on 127.0.0.1:${port} (${host}, --${taken}): port ${port} is occupied\n`,
    });
  });

  test('says in one line that an address can not be used, with exit code 1', async () => {
    const { code, stdout, stderr } = await adit(['server', '--log-level', 'error', '--http-host', '192.0.2.1', ...ports.flatMap((name) => [`--${name}`, '0'])]);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^adit: can't listen on 192\.0\.2\.1(:0)? \(--http-host, --http-port\): address 192\.0\.2\.1 does not belong to this machine\n$/,
      ),
    });
  });

  const refused: ReadonlyArray<readonly [what: string, args: readonly string[], message: string]> = [
    ['a flag without its value', ['server', '--http-port'], "option '--http-port <PORT>' argument missing"],
    ['an unknown command', ['serve'], "unknown command 'serve'"],
    ['an agent without its server', ['agent', '--vkey', 'k'], '--server: give the bridge of the server'],
    ['an unknown flag of the agent', ['agent', '--server', 'h:1', '--vkey', 'k', '--fast'], "unknown option '--fast'"],
    [
      'a bad fingerprint',
      ['agent', '--server', 'h:1', '--vkey', 'k', '--tls-fingerprint', 'ab:cd'],
      '--tls-fingerprint: must be a SHA-256 fingerprint, 64 hex digits',
    ],
    ['a bad server', ['agent', '--server', 'h', '--vkey', 'k'], '--server: must be HOST:PORT'],
  ];

  test.each(isShort ? refused.slice(-1) : refused)('refuses %s with exit code 2', async (_, args, message) => {
    const { code, stderr } = await adit(args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
