import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';

afterAll(removeScratchDirectories);

interface Outcome {
  readonly result?: unknown;
  readonly calls: readonly string[];
  readonly files: readonly string[];
  readonly running: boolean;
}

/** What the steps had done to the machine when they were done. */
const seen = (outcomes: readonly Outcome[]) =>
  outcomes.map(({ result = 'done', calls, files, running }) => [result, calls, files, ...running ? ['running'] : []]);

/** Programs that say how they were called, and what else they do. */
const programs = {
  systemctl: '[ "$1" != status ] || { echo state; exit 3; }',
  'update-rc.d': '',
  useradd: 'for name; do :; done; echo "$name:x:321:321::/:/bin/sh" >>/etc/passwd',
  adduser: 'for name; do :; done; echo "$name:x:321:321::/:/bin/sh" >>/etc/passwd',
  userdel: 'echo root:x:0:0::/:/bin/sh >/etc/passwd',
  deluser: 'echo removed; echo root:x:0:0::/:/bin/sh >/etc/passwd',
};

/** Does steps of `machine-steps.ts` on a machine whose /etc, /run, /sbin, /var and packaged units are its own. @returns the outcome of each */
async function onMachine(...steps: readonly unknown[]): Promise<{ readonly outcomes: readonly Outcome[]; readonly printed: readonly string[] }> {
  const root = scratchDirectory();
  for (const directory of ['etc/systemd/system', 'etc/init.d', 'lib/systemd/system', 'run', 'sbin', 'var/lib', 'var/log']) {
    mkdirSync(path.join(root, directory), { recursive: true });
  }
  const program = (name: string, text: string) => {
    writeFileSync(path.join(root, name), text);
    chmodSync(path.join(root, name), 0o755);
  };
  for (const [name, more] of Object.entries(programs)) program(`sbin/${name}`, `#!/bin/sh\necho "${name} $*" >>/run/calls\n${more}\n`);
  program('sbin/start-stop-daemon', '#!/bin/sh\ncase "$*" in *" server"*) exec sleep 60 ;; esac\n');
  program('etc/rc.common', 'echo "rc.common $*" >>/run/calls\n');
  writeFileSync(path.join(root, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\n');
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const mounts = ['lib/systemd/system', 'etc', 'run', 'var', 'sbin'].map((directory) => `mount --bind "$1/${directory}" /${directory}`);
  const { stdout } = await promisify(execFile)('unshare', [
    '--mount',
    'sh',
    '-c',
    `set -e; umask 022; ${mounts.join('; ')}; shift; exec "$@"`,
    'sh',
    ...[root, process.execPath, '--import', tsx, new URL('./machine-steps.ts', import.meta.url).pathname, JSON.stringify(steps)],
  ], { env: { PATH: '/sbin:/usr/bin:/bin' } });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return {
    outcomes: lines.filter((line) => line.startsWith('{')).map((line): Outcome => JSON.parse(line)),
    printed: lines.filter((line) => !line.startsWith('{')),
  };
}

function services(): void {
  const program = ['/bin/true'];

  test('with systemd is enabled and started, shown, and removed with its user, a server with its data only on request', async () => {
    const { outcomes, printed } = await onMachine(
      ['status', 'server', 'systemd'],
      ['make', '/run/systemd/system'],
      ['find init'],
      ['remove', '/run/systemd'],
      ['install', 'server', 'systemd', program],
      ['status', 'server', 'systemd'],
      ['make', '/var/lib/adit'],
      ['make', '/etc/adit'],
      ['uninstall', 'server', 'systemd', false],
      ['make', '/etc/adit/tls'],
      ['uninstall', 'server', 'systemd', true],
      ['install', 'agent', 'systemd', program],
      ['make', '/var/lib/adit'],
      ['uninstall', 'agent', 'systemd', true],
    );
    const started = (name: string) => ['systemctl daemon-reload', `systemctl enable --quiet ${name}`, `systemctl restart ${name}`];
    const removed = (name: string) => [`systemctl disable --quiet --now ${name}`, 'systemctl daemon-reload'];
    const [unit, data, settings] = ['/etc/systemd/system/adit.service 644 0', '/var/lib/adit 755 0', '/etc/adit 755 0'];
    expect(seen(outcomes)).toEqual([
      [4, [], []],
      ['done', [], ['/run/systemd 755 0']],
      ['systemd', [], ['/run/systemd 755 0']],
      ['done', [], []],
      ['done', ['useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin adit', ...started('adit')], [unit]],
      [3, ['systemctl status --no-pager adit'], [unit]],
      ['done', [], [unit, data]],
      ['done', [], [unit, data, settings]],
      ['done', [...removed('adit'), 'userdel adit'], [data]],
      ['done', [], ['/etc/adit/tls 755 0', data, settings]],
      ['done', ['systemctl daemon-reload'], ['/etc/adit/tls 755 0', settings]],
      ['done', started('adit-agent'), ['/etc/systemd/system/adit-agent.service 644 0', '/etc/adit/tls 755 0', settings]],
      ['done', [], ['/etc/systemd/system/adit-agent.service 644 0', '/etc/adit/tls 755 0', data, settings]],
      // The data is the server's.
      ['done', removed('adit-agent'), ['/etc/adit/tls 755 0', data, settings]],
    ]);
    expect(printed).toEqual(['the service adit is not installed', 'state']);
  });

  test('with SysV or procd is started, and stopped when it is removed', async () => {
    const { outcomes, printed } = await onMachine(
      ['find init'],
      ['install', 'server', 'sysv', program],
      ['status', 'server', ''],
      ['install', 'server', 'sysv', program],
      ['uninstall', 'server', 'sysv', true],
      ...['useradd', 'userdel', 'update-rc.d'].map((name) => ['remove', `/sbin/${name}`]),
      ['install', 'agent', 'sysv', program],
      ['uninstall', 'agent', '', false],
      ['write', '/sbin/procd'],
      ['find init'],
      ['install', 'agent', 'procd', program],
      ['uninstall', 'agent', 'procd', false],
      ['install', 'server', 'procd', program],
    );
    const server = ['/etc/init.d/adit 755 0', '/var/lib/adit 700 321', '/var/log/adit.log 600 321', '/run/adit.pid 644 0'];
    const agent = ['/etc/init.d/adit-agent 755 0', '/var/log/adit-agent.log 600 321', '/run/adit-agent.pid 644 0'];
    const procd = (...verbs: readonly string[]) => verbs.map((verb) => `rc.common /etc/init.d/adit-agent ${verb}`);
    expect(seen(outcomes)).toEqual([
      ['sysv', [], []],
      [
        'done',
        ['useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin adit', 'update-rc.d adit defaults'],
        server,
        'running',
      ],
      [0, [], server, 'running'],
      ['done', ['update-rc.d adit defaults'], server, 'running'],
      ['done', ['update-rc.d -f adit remove', 'userdel adit'], []],
      ['done', [], []],
      ['done', [], []],
      ['done', [], []],
      ['done', ['adduser -S -D -H -h /nonexistent -s /bin/false adit-agent'], agent],
      ['done', ['deluser adit-agent'], []],
      ['done', [], []],
      ['procd', [], []],
      ['done', procd('enable', 'restart'), ['/etc/init.d/adit-agent 755 0']],
      ['done', procd('stop', 'disable'), []],
      [expect.stringContaining('OpenWrt keeps /var in memory'), [], []],
    ]);
    // What programs say is the operator's to read.
    expect(printed).toEqual(['adit is running', 'removed']);
  });

  test('is not installed where it would not start, is not that of the package, and needs root', async () => {
    const { outcomes } = await onMachine(
      ['make', '/run/user'],
      ['write', '/run/user/program'],
      ['install', 'agent', 'systemd', ['/bin/true', '/run/user/program']],
      // Through a link.
      ['install', 'agent', 'systemd', ['/bin/true', '/proc/self/root/run/user/program']],
      ['make', '/var/tmp'],
      ['write', '/var/tmp/program'],
      ['install', 'agent', 'systemd', ['/var/tmp/program']],
      ['install', 'agent', 'procd', ['/bin/true', '/run/user/program']],
      ['write', '/lib/systemd/system/adit.service'],
      ['install', 'server', 'systemd', program],
      ['uninstall', 'server', 'systemd', true],
      ['status', 'server', 'systemd'],
      ['status', 'agent', 'systemd'],
      ['remove', '/etc/rc.common'],
      ['install', 'agent', 'procd', program],
      ['no root'],
      ['uninstall', 'agent', 'procd', false],
    );
    const packaged = 'ServiceError: the Debian package runs the server as a service: change /etc/adit/adit.toml, or remove the package';
    const hidden = (file: string) => `ServiceError: services can't read ${file}: install the program, and Node, outside of home and temporary directories`;
    expect(outcomes.map(({ result = 'done' }) => result)).toEqual([
      ...['done', 'done', hidden('/run/user/program'), hidden('/proc/self/root/run/user/program'), 'done', 'done', hidden('/var/tmp/program')],
      ...['done', 'done', packaged, packaged, 3, 4, 'done', 'ServiceError: /etc/init.d/adit-agent enable failed', 'done'],
      'ServiceError: only root can install or remove a service',
    ]);
    // What was refused has changed nothing.
    expect(outcomes.at(-1)?.files).toEqual(['/etc/init.d/adit-agent 755 0', '/run/user 755 0']);
  });
}

if (spawnSync('unshare', ['--mount', 'true']).status === 0) describe('a service of a machine', services);
// oxlint-disable-next-line jest/no-disabled-tests -- its name says why
else describe.skip('a service of a machine (skipped: no mount namespaces can be made here)', services);
