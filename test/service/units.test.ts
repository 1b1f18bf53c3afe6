import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { Command } from 'commander';
import { ownProgram } from '../../src/own-program.ts';
import { type Init, serviceText } from '../../src/service/service.ts';
import type { ServiceProgram } from '../../src/service/units.ts';
import { addServiceCommands } from '../../src/service-commands.ts';
import { defaultOf } from '../../src/settings/settings.ts';
import { eventually } from '../support/eventually.ts';
import { programPath } from '../support/find-program.ts';
import { describeWith } from '../support/programs.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';

const server: ServiceProgram = { kind: 'server', command: ['/usr/bin/node', '/opt/adit/bin/adit.mjs'], args: ['--config', '/etc/adit/adit.toml'], keyFile: '' };
const agent: ServiceProgram = { kind: 'agent', command: ['/usr/local/bin/adit-agent'], args: ['--server', '[::1]:8025'], keyFile: '/etc/adit-agent/vkey' };

afterAll(removeScratchDirectories);

/** The programs before those of this machine; "" = none. */
let preferred = '';

/** Runs a program. @returns its exit code and what it printed */
function outcome(program: string, ...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { env: { PATH: `${preferred}/usr/sbin:/usr/bin:/sbin:/bin` } },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), output: `${stdout}${stderr}` }),
    );
  });
}

describe('a service', () => {
  const inits: readonly Init[] = ['systemd', 'sysv', 'procd'];

  test.each(inits)('of %s refuses arguments with line breaks, which would be lines of its own file', (init) => {
    expect(() => serviceText({ ...agent, args: ['--server', 'host:1"\nExecStartPre=/bin/true'] }, init)).toThrow(/control character/);
    expect(() => serviceText({ ...agent, keyFile: '/etc/\nkey' }, init)).toThrow(/control character/);
    expect(() => serviceText({ ...agent, command: ['/opt/\nadit'] }, init)).toThrow(/control character/);
  });

  test('of a server is not for OpenWrt, which would lose its data', () => {
    expect(() => serviceText(server, 'procd')).toThrow(/keeps \/var in memory/);
  });

  test('of a server without systemd has its data where that of systemd has it', () => {
    expect(serviceText(server, 'sysv')).toContain('\n  export MALLOC_ARENA_MAX=2 ADIT_DATA_DIR=/var/lib/adit\n');
  });

  test('of systemd gets its words as they were given', () => {
    const unit = serviceText({ ...agent, args: ['--allow-files', '/srv/50% of "all" $HOME\\'] }, 'systemd');
    expect(unit).toContain('ExecStart=/usr/local/bin/adit-agent agent --allow-files "/srv/50%% of \\"all\\" $$HOME\\\\" --vkey-file %d/vkey\n');
    expect(unit).toContain('LoadCredential=vkey:/etc/adit-agent/vkey\n');
  });
});

const always = ['Type=notify', 'NotifyAccess=all', 'WatchdogSec=60', 'Restart=always', 'LimitNOFILE=65536', 'WantedBy=multi-user.target'];

test('a server under systemd is reloaded by SIGHUP, may drain before it is killed, opens ports below 1024, and has directories of its own', () => {
  const lines = serviceText(server, 'systemd').split('\n');
  expect(lines).toEqual(expect.arrayContaining([
    ...always,
    'ExecReload=/bin/kill -HUP $MAINPID',
    'Environment=MALLOC_ARENA_MAX=2 ADIT_DATA_DIR=/var/lib/adit',
    'User=adit',
    'Group=adit',
    'StateDirectory=adit',
    'StateDirectoryMode=0700',
    'ConfigurationDirectory=adit',
    'WorkingDirectory=/var/lib/adit',
    'AmbientCapabilities=CAP_NET_BIND_SERVICE',
    'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
  ]));
  const seconds = Number(lines.find((line) => line.startsWith('TimeoutStopSec='))?.split('=')[1]);
  expect(seconds).toBeGreaterThan(Number(defaultOf('drainSeconds')) + 2 * Number(defaultOf('leaveSeconds')));
});

test('an agent under systemd has a user while it runs, no capability, and a directory that a restart leaves alone', () => {
  const lines = serviceText(agent, 'systemd').split('\n');
  expect(lines).toEqual(expect.arrayContaining([
    ...always,
    'TimeoutStopSec=15',
    'Environment=MALLOC_ARENA_MAX=2',
    'DynamicUser=yes',
    'User=adit-agent',
    'RuntimeDirectory=adit-agent',
    'RuntimeDirectoryMode=0700',
    'RuntimeDirectoryPreserve=restart',
    'Environment=ADIT_RUNTIME_DIR=/run/adit-agent',
    'CapabilityBoundingSet=',
  ]));
  expect(lines.filter((line) => line.startsWith('ExecReload='))).toEqual([]);
});

test("the command prints what it would install: files are found from any directory, and the key file of an agent is the unit's concern", async () => {
  const write = jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
  const printed = async (kinds: ReadonlyArray<ServiceProgram['kind']>, ...args: readonly string[]) => {
    const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
    addServiceCommands(program, kinds);
    await program.parseAsync(['service', ...args], { from: 'user' });
    return write.mock.calls.splice(0).map(([text]) => String(text)).join('');
  };
  const install = (init: Init, ...args: readonly string[]) => printed(['server', 'agent'], 'install', '--print', '--init', init, ...args);
  const text = (init: Init, kind: ServiceProgram['kind'], args: readonly string[], keyFile: string) =>
    serviceText({ kind, command: ownProgram(), args, keyFile }, init);
  try {
    const [config, key] = [path.resolve('a.toml'), path.resolve('key')];
    expect(await install('systemd', 'agent', '--tls', '--config', 'a.toml', '--vkey-file', 'key', '--server', 'host:1')).toBe(
      text('systemd', 'agent', ['--tls', '--config', config, '--server', 'host:1'], key),
    );
    expect(await install('systemd', 'agent', '--config=a.toml', '--vkey-file=key', '--tls')).toBe(text('systemd', 'agent', ['--config', config, '--tls'], key));
    expect(await install('procd', 'agent', '--vkey-file', 'key', '--tls')).toBe(text('procd', 'agent', ['--tls'], key));
    expect(await install('sysv', 'server', '--vkey-file', 'key', '--config', 'a.toml')).toBe(
      text('sysv', 'server', ['--vkey-file', 'key', '--config', config], ''),
    );
    expect(await install('sysv', 'agent', '--print', '--vkey-file')).toBe(text('sysv', 'agent', ['--print', '--vkey-file'], ''));
    await expect(printed(['agent'], 'install', '--print', 'server')).rejects.toThrow("'server' is invalid");
    await expect(printed(['agent'], 'uninstall', '--purge', 'agent')).rejects.toThrow('unknown option');
  } finally {
    write.mockRestore();
  }
});

describeWith('systemd-analyze', 'the unit of systemd', () => {
  test.each([server, agent])('of the $kind is hardened, and its settings are known', async (program) => {
    const name = program.kind === 'server' ? 'adit.service' : 'adit-agent.service';
    const file = path.join(scratchDirectory(), name);
    writeFileSync(file, serviceText({ ...program, command: ['/bin/true'] }, 'systemd'));
    const analyze = programPath('systemd-analyze');
    // 20 = an exposure of 2.0
    expect(await outcome(analyze, 'security', '--offline=true', '--threshold=20', file)).toMatchObject({ code: 0 });
    expect(await outcome(analyze, 'verify', '--recursive-errors=no', file)).toEqual({ code: 0, output: '' });
  });
});

/** The shells of Debian and OpenWrt. */
const shells = [['dash'], ['busybox', 'sh']] as const;

/** Makes the script use BusyBox's programs with BusyBox's shell. */
function preferProgramsOf(shell: string): void {
  preferred = '';
  if (shell !== 'busybox') return;
  const directory = scratchDirectory();
  for (const name of ['start-stop-daemon', 'setsid']) symlinkSync(programPath('busybox'), path.join(directory, name));
  preferred = `${directory}:`;
}

/** Places an init script whose files are in a directory, and whose user is there. @returns what runs it */
function scriptIn(directory: string, text: string, shell: Parameters<typeof programPath>[0], ...more: readonly string[]) {
  chmodSync(directory, 0o777);
  const script = path.join(directory, 'script');
  writeFileSync(script, text.replaceAll('/run/', `${directory}/`).replaceAll('/var/log/', `${directory}/`).replace('user=adit-agent', 'user=nobody'));
  return (verb: string) => outcome(programPath(shell), ...more, script, verb);
}

/** The command of a process; "" = it is dead. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // nobody waits for its exit code
  }
}

describeWith(['dash', 'busybox', 'start-stop-daemon', 'setsid'], 'the init script', () => {
  test('kills a program that does not end in time', async () => {
    preferProgramsOf('dash');
    const directory = scratchDirectory();
    const [program, noted] = [path.join(directory, 'program'), path.join(directory, 'noted')];
    writeFileSync(program, `#!/bin/sh\ntrap '' TERM\necho $$ >${noted}\nwhile :; do sleep 0.05; done\n`);
    chmodSync(program, 0o755);
    const text = serviceText({ kind: 'agent', command: [program], args: [], keyFile: '' }, 'sysv');
    const script = scriptIn(directory, text.replace('left=60', 'left=0'), 'dash');
    expect(await script('start')).toEqual({ code: 0, output: '' });
    const pid = Number(await eventually(() => existsSync(noted) ? readFileSync(noted, 'utf8') : '', (text) => text.endsWith('\n')));
    try {
      expect(await script('stop')).toEqual({ code: 0, output: '' });
      await eventually(() => commandOf(pid), (command) => command === '');
    } finally {
      if (commandOf(pid) !== '') process.kill(pid, 'SIGKILL');
    }
  });

  test.each(shells)('runs with %s: starts the program as its user with its key, again when it ends, and stops it with its children', async (shell, ...more) => {
    preferProgramsOf(shell);
    const directory = scratchDirectory();
    const at = (name: string) => path.join(directory, name);
    writeFileSync(at('key'), "the key's value\n");
    // Ends at SIGTERM, which takes a moment.
    writeFileSync(
      at('program'),
      `#!/bin/sh\ntrap 'echo stopped >>${at('said')}; exit' TERM\necho "$$ $(id -un) $ADIT_VKEY $MALLOC_ARENA_MAX $*" >>${
        at('said')
      }\nwhile :; do sleep 0.05; done\n`,
    );
    chmodSync(at('program'), 0o755);
    const text = serviceText({ kind: 'agent', command: [at('program')], args: ['two words', "it's"], keyFile: at('key') }, 'sysv');
    const script = scriptIn(directory, text, shell, ...more);
    const said = () => existsSync(at('said')) ? readFileSync(at('said'), 'utf8').split('\n').filter((line) => line !== '') : [];

    expect(await script('status')).toEqual({ code: 3, output: 'adit-agent is not running\n' });
    expect(await script('start')).toEqual({ code: 0, output: '' });
    await eventually(() => said().length, (lines) => lines === 1);
    expect(said()[0]).toMatch(/^\d+ nobody the key's value 2 agent two words it's$/);
    expect(await script('start')).toEqual({ code: 0, output: '' });
    expect(await script('status')).toEqual({ code: 0, output: 'adit-agent is running\n' });

    process.kill(Number(said()[0]?.split(' ')[0]), 'SIGKILL');
    await eventually(() => said().length, (lines) => lines === 2);
    expect(await script('stop')).toEqual({ code: 0, output: '' });
    expect(said().slice(2)).toEqual(['stopped']);
    expect((await script('status')).code).toBe(3);
    expect((await script('nonsense')).code).toBe(2);
  });
});

describeWith(['dash', 'busybox'], 'the script for procd', () => {
  test.each(shells)('tells procd by %s what to run, and not where the key is', async (shell, ...more) => {
    const directory = scratchDirectory();
    const key = path.join(directory, 'vkey');
    writeFileSync(key, "the key's value\n");
    const script = path.join(directory, 'script');
    writeFileSync(
      script,
      `${serviceText({ ...agent, args: ['--server', "it's:1"], keyFile: key }, 'procd')}
procd_open_instance() { echo open; }
procd_close_instance() { echo close; }
procd_set_param() { printf '<%s>' "$@"; echo; }
start_service
`,
    );
    const { code, output } = await outcome(programPath(shell), ...more, script);
    expect([code, ...output.trim().split('\n')]).toEqual([
      0,
      'open',
      "<command></usr/local/bin/adit-agent><agent><--server><it's:1>",
      "<env><MALLOC_ARENA_MAX=2><ADIT_VKEY=the key's value>",
      '<user><nobody>',
      '<no_new_privs><1>',
      '<respawn><3600><2><0>',
      '<stderr><1>',
      'close',
    ]);
  });
});
