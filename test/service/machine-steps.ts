import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { Command } from 'commander';
import * as z from 'zod';
import { initOfMachine, installService } from '../../src/service/service.ts';
import { addServiceCommands } from '../../src/service-commands.ts';

/* What `install.test.ts` does to a machine whose directories are its own. Prints the result of each step, what was called, and the files that are there afterwards. */

const CALLS = '/run/calls';
const init = z.enum(['systemd', 'sysv', 'procd']);
const kind = z.enum(['server', 'agent']);
/** `''`: what the command finds out. */
const chosen = init.or(z.literal(''));
const stepSchema = z.union([
  z.tuple([z.literal('find init')]),
  z.tuple([z.literal('install'), kind, init, z.array(z.string())]),
  z.tuple([z.literal('status'), kind, chosen]),
  z.tuple([z.literal('uninstall'), kind, chosen, z.boolean()]),
  z.tuple([z.literal('make'), z.string()]),
  z.tuple([z.literal('write'), z.string()]),
  z.tuple([z.literal('remove'), z.string()]),
  z.tuple([z.literal('no root')]),
]);

/** The leader of the group of processes that the init script has started. */
let leader = 0;

/** Runs `adit service`. @returns its exit code; undefined = it has set none */
async function command(...words: readonly string[]): Promise<typeof process.exitCode> {
  const program = new Command();
  addServiceCommands(program, ['server', 'agent']);
  process.exitCode = undefined;
  await program.parseAsync(['service', ...words], { from: 'user' });
  const code = process.exitCode;
  process.exitCode = undefined;
  return code;
}

const initOption = (given: z.output<typeof chosen>) => given === '' ? [] : ['--init', given];

async function perform(step: z.output<typeof stepSchema>): Promise<unknown> {
  switch (step[0]) {
    case 'find init':
      return initOfMachine();
    case 'install':
      return installService({ kind: step[1], command: step[3], args: [], keyFile: '' }, step[2]);
    case 'status':
      return command('status', step[1], ...initOption(step[2]));
    case 'uninstall':
      return command('uninstall', step[1], ...initOption(step[2]), ...step[3] ? ['--purge'] : []);
    case 'make':
      return void mkdirSync(step[1], { recursive: true });
    case 'write':
      return writeFileSync(step[1], '');
    case 'remove':
      return rmSync(step[1], { recursive: true });
    case 'no root':
      process.getuid = () => 1000;
  }
}

/** The files that a service may have, with their modes and owners. */
function files(): string[] {
  const directories = ['/etc/systemd/system', '/etc/init.d', '/etc/adit', '/var/lib', '/var/log', '/run'].filter((directory) => existsSync(directory));
  const found = directories.flatMap((directory) => readdirSync(directory).map((name) => path.join(directory, name)));
  const others = [CALLS, '/run/mount'];
  return [...found, ...existsSync('/etc/adit') ? ['/etc/adit'] : []].filter((file) => !others.includes(file)).map((file) => {
    const { mode, uid } = lstatSync(file);
    return `${file} ${(mode & 0o777).toString(8)} ${uid}`;
  });
}

function isRunning(): boolean {
  try {
    return leader > 0 && process.kill(-leader, 0);
  } catch {
    return false; // there is no such group
  }
}

for (const step of z.array(stepSchema).parse(JSON.parse(process.argv[2] ?? ''))) {
  writeFileSync(CALLS, '');
  let result: unknown;
  try {
    result = await perform(step);
  } catch (error) {
    result = String(error);
  }
  if (existsSync('/run/adit.pid')) {
    leader = Number(readFileSync('/run/adit.pid', 'utf8'));
    while (!isRunning()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
  const calls = readFileSync(CALLS, 'utf8').split('\n').filter((line) => line !== '');
  process.stdout.write(`${JSON.stringify({ result, calls, files: files(), running: isRunning() })}\n`);
}
