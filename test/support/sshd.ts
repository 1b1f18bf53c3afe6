import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { Child } from './child.ts';
import { programPath } from './find-program.ts';
import { freePort } from './free-port.ts';
import { scratchDirectory } from './scratch.ts';

/** The programs that `startSshd` and its visitors need. */
export const sshPrograms = ['sshd', 'ssh', 'ssh-keygen'] as const;

/** An OpenSSH server with throw-away keys, for the account that runs this process. */
export interface Sshd {
  readonly child: Child;
  readonly port: number;
  /** What `ssh` needs to log in through a port of this machine that leads to the server; a command may follow. */
  login(port?: number): string[];
}

/** Starts an OpenSSH server on a free port of this machine. @param start starts its program, elsewhere than here perhaps */
export async function startSshd(start = (command: string, args: readonly string[]): Child => new Child(command, args)): Promise<Sshd> {
  const directory = scratchDirectory();
  const file = (name: string): string => path.join(directory, name);
  for (const key of ['host', 'user']) await promisify(execFile)(programPath('ssh-keygen'), ['-q', '-t', 'ed25519', '-N', '', '-f', file(key)]);
  await copyFile(file('user.pub'), file('authorized'));
  // Where the program, run by root, locks its children in; Debian makes it when the service starts.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const port = await freePort();
  await writeFile(
    file('config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${file('host')}`,
      `AuthorizedKeysFile ${file('authorized')}`,
      'PidFile none',
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'PermitRootLogin prohibit-password',
      'LogLevel INFO',
      '',
    ].join('\n'),
  );
  const child = start(programPath('sshd'), ['-D', '-e', '-f', file('config')]);
  await child.says(/Server listening on 127\.0\.0\.1/);
  return {
    child,
    port,
    login: (through = port) => [
      '-F',
      'none',
      '-i',
      file('user'),
      '-p',
      String(through),
      '-o',
      'IdentitiesOnly=yes',
      '-o',
      'StrictHostKeyChecking=no',
      '-o',
      'UserKnownHostsFile=/dev/null',
      '-o',
      'LogLevel=ERROR',
      '-o',
      'BatchMode=yes',
      `${userInfo().username}@127.0.0.1`,
    ],
  };
}
