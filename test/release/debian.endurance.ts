import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { Installation, PUBLIC_SETTINGS } from '../support/machine/installation.ts';
import { Machine } from '../support/machine/machine.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';

const run = promisify(execFile);
const release = path.resolve(import.meta.dirname, '../../release');
const released = (name: string): string => path.join(release, name);
let debian = '';
let server: Machine;
let agent: Machine;

beforeAll(() => {
  debian = readdirSync(release).find((name) => name.endsWith('_amd64.deb')) ?? '';
  if (debian === '') throw new Error('there is no release: npm run test:release makes one and tests it');
});
afterAll(removeScratchDirectories);

const added = (before: readonly string[], after: readonly string[]) => after.filter((file) => !before.includes(file));

test('lintian finds no errors in the package', async () => {
  const { stdout } = await run('lintian', ['--fail-on', 'error', released(debian)]).catch((error: { readonly stdout: string }) => error);
  expect(stdout.split('\n').filter((line) => line.startsWith('E:'))).toEqual([]);
}, 120_000);

describe('on machines', () => {
  beforeEach(async () => {
    [server, agent] = await Machine.pair();
  }, 600_000);
  afterEach(async () => {
    await Promise.all([server, agent].map((machine) => machine.scrap()));
    await endChildren();
  }, 60_000);

  test('the package runs a server, and the line installs an agent on a machine without Node; both start at boot, and leave nothing behind', async () => {
    const [serverBefore, agentBefore] = [server.files(), agent.files()];
    const installation = new Installation(server, agent);
    const began = performance.now();
    server.put(released(debian), 'root/adit.deb');
    await server.do('dpkg --install /root/adit.deb');
    expect(await server.do('systemctl is-active adit; systemctl is-enabled adit; adit --version; adit service status server')).toMatch(/^active\nenabled\n\d/);
    expect(await server.do('journalctl --unit adit')).toMatch(/administrator|password/i);
    expect(await server.do('stat --format "%U %a" /var/lib/adit /etc/adit/adit.toml')).toBe('adit 700\nroot 640\n');
    expect(await server.run('adit service install server')).toMatchObject({ code: 1, output: expect.stringContaining('the Debian package runs the server') });

    writeFileSync(path.join(server.root, 'etc/adit/adit.toml'), `data_dir = "/var/lib/adit"\n${PUBLIC_SETTINGS}`);
    server.put(released('adit-agent-linux-x64'), 'var/lib/adit/agent/adit-agent-linux-x64');
    await server.do('chown -R adit: /var/lib/adit/agent; systemctl restart adit');
    const line = await installation.line();
    const target = await installation.target(3000);
    const port = await installation.tunnel(3000);
    expect(await agent.do(line)).toContain('it connects to 10.9.0.1:8025');
    expect(await installation.load(port)).toBe(target.sum);
    process.stderr.write(`from nothing to traffic: ${((performance.now() - began) / 1000).toFixed(1)} s with the Debian package and an executable\n`);
    expect(await agent.do('systemctl is-active adit-agent; systemctl is-enabled adit-agent')).toBe('active\nenabled\n');
    expect(await agent.do(line)).toContain('already installed');
    for (const [machine, unit] of [[server, 'adit'], [agent, 'adit-agent']] as const) {
      expect(await machine.do(`systemctl show --property User,NRestarts,Type,Result ${unit}`)).toBe(`Type=notify\nResult=success\nNRestarts=0\nUser=${unit}\n`);
      // 20 = an exposure of 2.0
      await machine.do(`systemd-analyze security --threshold=20 ${unit}`);
    }

    await agent.powerOff();
    await server.powerOff();
    await server.boot();
    await agent.boot();
    expect(await installation.load(port)).toBe(target.sum);

    expect(await agent.do(line.replace(/adit-enrol_\S+/, 'uninstall'))).toContain('the agent is removed');
    expect(added(agentBefore, agent.files()).map((file) => file.split(' ')[0])).toEqual([
      '/etc/adit-agent',
      '/etc/adit-agent/enrolment',
      '/etc/adit-agent/machine',
      '/etc/adit-agent/server',
      '/etc/adit-agent/vkey',
    ]);
    await agent.do(line.replace(/adit-enrol_\S+/, 'uninstall --purge'));
    expect(agent.files()).toEqual(agentBefore);

    await server.do('dpkg --remove adit');
    expect(await server.run('systemctl is-active adit')).toMatchObject({ output: 'inactive\n' });
    const left = added(serverBefore, server.files()).map((file) => file.split(' ')[0]);
    // Its settings, its data, the user that owns them, and that it was enabled.
    expect(left.filter((file) => !/^\/var\/lib\/(adit|systemd)\//.test(file ?? ''))).toEqual([
      '/etc/adit',
      '/etc/adit/adit.toml',
      '/etc/group',
      '/etc/gshadow',
      '/etc/passwd',
      '/etc/shadow',
      '/etc/systemd/system/multi-user.target.wants/adit.service',
      '/var/lib/adit',
    ]);
    expect(left).toContain('/var/lib/adit/adit.db');
    await server.do('dpkg --purge adit');
    expect(server.files()).toEqual(serverBefore);
  }, 600_000);

  test('an upgrade of the package restarts the server, and keeps its data and settings', async () => {
    server.put(released(debian), 'root/adit.deb');
    await server.do('dpkg --install /root/adit.deb');
    const settings = `data_dir = "/var/lib/adit"\n${PUBLIC_SETTINGS}`;
    writeFileSync(path.join(server.root, 'etc/adit/adit.toml'), settings);
    const secrets = readFileSync(path.join(server.root, 'var/lib/adit/secrets.json'), 'utf8');
    const pid = await server.do('systemctl show --property MainPID adit');
    const tree = path.join(scratchDirectory(), 'newer');
    await run('dpkg-deb', ['--raw-extract', released(debian), tree]);
    const control = path.join(tree, 'DEBIAN/control');
    writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: (.*)$/m, 'Version: $1+newer'));
    await run('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '--build', tree, path.join(server.root, 'root/newer.deb')]);
    await server.do('systemctl disable --quiet adit; dpkg --install /root/newer.deb');
    expect(await server.do('systemctl is-active adit')).toBe('active\n');
    // What the operator disabled stays so.
    expect((await server.run('systemctl is-enabled adit')).output).toBe('disabled\n');
    expect(await server.do('systemctl show --property MainPID adit')).not.toBe(pid);
    expect(readFileSync(path.join(server.root, 'etc/adit/adit.toml'), 'utf8')).toBe(settings);
    expect(readFileSync(path.join(server.root, 'var/lib/adit/secrets.json'), 'utf8')).toBe(secrets);
    expect(await server.do('stat --format "%G %a" /etc/adit/adit.toml')).toBe('adit 640\n');
  }, 600_000);
});
