import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Makes the temporary directory of a test run, which is removed with everything in it when the run ends. The processes of the run are recognized by it.
 * PostgreSQL, which runs as an account of its own, can enter it.
 */
export function makeRunDirectory() {
  const directory = mkdtempSync(path.join(tmpdir(), 'adit-run-'));
  chmodSync(directory, 0o711);
  return directory;
}

/**
 * Removes the directory of a test run, its network namespaces, and its processes if there is a /proc, however the run ended.
 * @param {string} directory of the run
 * @returns {Promise<string[]>} the processes that did not end by themselves within 3 s
 */
export async function removeRun(directory) {
  await gone(directory, 3000);
  const left = processesOf(directory).map(({ pid, command }) => `process ${pid}: ${command}`);
  // At SIGINT, PostgreSQL ends its processes and releases its shared memory.
  for (const signal of ['SIGINT', 'SIGKILL']) {
    for (const { pid } of processesOf(directory)) kill(pid, signal);
    await gone(directory, 5000);
  }
  rmSync(directory, { recursive: true, force: true });
  for (const name of abandonedNamespaces()) {
    execFileSync('ip', ['netns', 'del', name], { env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` } });
  }
  return left;
}

/** Waits until no process of the run is left, at most for so many ms. */
async function gone(directory, ms) {
  for (const until = performance.now() + ms; processesOf(directory).length > 0 && performance.now() < until;) await delay(100);
}

/** The processes that name the directory in their environment or command line, or run in it: some programs overwrite the first two. */
export function processesOf(directory) {
  if (!existsSync('/proc/self')) return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => pid !== process.pid);
  return pids.map((pid) => ({ pid, command: read(pid, 'cmdline').replaceAll('\0', ' ').trim() }))
    .filter(({ pid, command }) =>
      command.includes(directory) || `${workingDirectory(pid)}/`.startsWith(`${directory}/`) || read(pid, 'environ').includes(directory)
    );
}

/** A file of a process; "" = the process has ended, or belongs to somebody else. */
function read(pid, name) {
  return orEmpty(() => readFileSync(`/proc/${pid}/${name}`, 'utf8'));
}

function workingDirectory(pid) {
  return orEmpty(() => readlinkSync(`/proc/${pid}/cwd`));
}

function orEmpty(read) {
  try {
    return read();
  } catch (error) {
    if (!['ENOENT', 'ESRCH', 'EACCES'].includes(error.code)) throw error;
    return '';
  }
}

/** The network namespaces that a suite made (nat-rig.ts, cut-network.ts, vanishing-network.ts), whose process has ended. */
export function abandonedNamespaces() {
  const names = existsSync('/run/netns') ? readdirSync('/run/netns') : [];
  return names.filter((name) => {
    const pid = /^adit(\d+)-/.exec(name)?.[1];
    return pid !== undefined && !existsSync(`/proc/${pid}`);
  });
}

function kill(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
