import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { initScript, procdScript, SERVER_DATA, serviceName, type ServiceProgram, systemdUnit } from './units.ts';

/** What starts services on a machine. */
export type Init = 'systemd' | 'procd' | 'sysv';

/** A service can't be installed or removed. The message is for the operator. */
class ServiceError extends Error {
  override readonly name = 'ServiceError';
}

/** What starts services on this machine. */
export function initOfMachine(): Init {
  if (existsSync('/run/systemd/system')) return 'systemd';
  return existsSync('/sbin/procd') ? 'procd' : 'sysv';
}

/** The unit of the Debian package, which is not ours to change. */
const PACKAGED_UNIT = `/lib/systemd/system/${serviceName('server')}.service`;
/** Where an operator's settings are. systemd makes this directory. */
const SERVER_SETTINGS = '/etc/adit';

/** Directories that the unit hides from the service. */
const UNREADABLE = /^\/(home|root|run\/user|tmp|var\/tmp)\//;

/** The file of a service's unit or init script. */
function serviceFile(kind: ServiceProgram['kind'], init: Init): string {
  return init === 'systemd' ? `/etc/systemd/system/${serviceName(kind)}.service` : `/etc/init.d/${serviceName(kind)}`;
}

/** The text of that file. @throws {ServiceError} */
export function serviceText(program: ServiceProgram, init: Init): string {
  const words = [...program.command, ...program.args, program.keyFile];
  if (words.some((word) => /\p{Cc}/u.test(word))) throw new ServiceError('an argument of the program has a line break or another control character');
  if (init === 'procd' && program.kind === 'server') {
    throw new ServiceError('OpenWrt keeps /var in memory, so a server would lose its data at each restart: run it on another machine');
  }
  return { systemd: systemdUnit, procd: procdScript, sysv: initScript }[init](program);
}

/** Installs a service, or replaces it, and starts it now and at boot. @throws {ServiceError} */
export function installService(program: ServiceProgram, init: Init): void {
  const { kind } = program;
  const name = serviceName(kind);
  const text = serviceText(program, init);
  requireOwn(kind);
  const hidden = init === 'systemd' ? program.command.find((word) => UNREADABLE.test(realpathSync(word))) : undefined;
  if (hidden !== undefined) throw new ServiceError(`services can't read ${hidden}: install the program, and Node, outside of home and temporary directories`);
  // Under systemd, an agent gets a user for as long as it runs.
  if (init === 'sysv' || (init === 'systemd' && kind === 'server')) makeUser(name);
  if (init === 'sysv' && kind === 'server') makeDataDirectory(name);
  const file = serviceFile(kind, init);
  writeFileSync(file, text);
  chmodSync(file, init === 'systemd' ? 0o644 : 0o755);
  for (const command of startCommands(name, file, init)) run(command);
}

/** Stops a service, and removes it with its user. @param purge removes a server's data, too @throws {ServiceError} */
export function uninstallService(kind: ServiceProgram['kind'], init: Init, purge: boolean): void {
  const name = serviceName(kind);
  requireOwn(kind);
  const file = serviceFile(kind, init);
  if (existsSync(file)) { for (const command of stopCommands(name, file, init)) run(command); }
  rmSync(file, { force: true });
  if (init === 'systemd') run(['systemctl', 'daemon-reload']);
  if (init === 'sysv') { for (const left of [`/run/${name}.pid`, `/var/log/${name}.log`]) rmSync(left, { force: true }); }
  if (userExists(name)) run(has('userdel') ? ['userdel', name] : ['deluser', name]);
  if (kind === 'agent') return;
  if (existsSync(SERVER_SETTINGS) && readdirSync(SERVER_SETTINGS).length === 0) rmdirSync(SERVER_SETTINGS);
  if (purge) rmSync(SERVER_DATA, { recursive: true, force: true });
}

function requireOwn(kind: ServiceProgram['kind']): void {
  if (process.getuid?.() !== 0) throw new ServiceError('only root can install or remove a service');
  if (isPackaged(kind)) throw new ServiceError('the Debian package runs the server as a service: change /etc/adit/adit.toml, or remove the package');
}

const isPackaged = (kind: ServiceProgram['kind']): boolean => kind === 'server' && existsSync(PACKAGED_UNIT);

/** Prints the state of a service, and returns the exit code of the program that knows it. */
export function serviceStatus(kind: ServiceProgram['kind'], init: Init): number {
  const name = serviceName(kind);
  const [program = '', ...args] = init === 'systemd' ? ['systemctl', 'status', '--no-pager', name] : [serviceFile(kind, init), 'status'];
  if (!existsSync(serviceFile(kind, init)) && !(init === 'systemd' && isPackaged(kind))) {
    process.stdout.write(`the service ${name} is not installed\n`);
    return 4;
  }
  try {
    execFileSync(program, args, { stdio: 'inherit' });
    return 0;
  } catch (error) {
    const status: unknown = Reflect.get(Object(error), 'status');
    return typeof status === 'number' ? status : 1;
  }
}

function startCommands(name: string, file: string, init: Init): readonly string[][] {
  switch (init) {
    case 'systemd':
      return [['systemctl', 'daemon-reload'], ['systemctl', 'enable', '--quiet', name], ['systemctl', 'restart', name]];
    case 'procd':
      return [[file, 'enable'], [file, 'restart']];
    case 'sysv':
      return [...has('update-rc.d') ? [['update-rc.d', name, 'defaults']] : [], [file, 'restart']];
  }
}

function stopCommands(name: string, file: string, init: Init): readonly string[][] {
  switch (init) {
    case 'systemd':
      return [['systemctl', 'disable', '--quiet', '--now', name]];
    case 'procd':
      return [[file, 'stop'], [file, 'disable']];
    case 'sysv':
      return [[file, 'stop'], ...has('update-rc.d') ? [['update-rc.d', '-f', name, 'remove']] : []];
  }
}

function makeUser(name: string): void {
  if (userExists(name)) return;
  if (has('useradd')) run(['useradd', '--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin', name]);
  else run(['adduser', '-S', '-D', '-H', '-h', '/nonexistent', '-s', '/bin/false', name]);
}

function makeDataDirectory(name: string): void {
  mkdirSync(SERVER_DATA, { recursive: true, mode: 0o700 });
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' })));
  chownSync(SERVER_DATA, uid ?? 0, gid ?? 0);
}

function userExists(name: string): boolean {
  return succeeds('id', ['-u', name]);
}

function has(program: string): boolean {
  return succeeds('sh', ['-c', `command -v ${program}`]);
}

function succeeds(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false; // it answers by its exit code
  }
}

function run([program = '', ...args]: readonly string[]): void {
  try {
    execFileSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  } catch (error) {
    throw new ServiceError(`${[program, ...args].join(' ')} failed`, { cause: error });
  }
}
