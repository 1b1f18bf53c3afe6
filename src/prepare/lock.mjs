import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { say } from './run.mjs';

/** A holder shows every 2 s that it is alive; one that was silent for this long has ended, or its id belongs to another. */
const silentMs = 30_000;

/**
 * Does something that two processes must not do to one checkout at a time, such as installing packages. Another process
 * that holds the lock, a directory, is waited for; that of a dead process is taken over. Node has no lock that ends with its process.
 */
export async function withLock(directory, work, { pollMs = 200, onWait = () => say('waiting for another adit command that prepares this checkout ...') } = {}) {
  for (let tries = 0; !take(directory); tries++) {
    if (tries === 0) onWait();
    await delay(pollMs);
  }
  const heartbeat = setInterval(() => existsSync(directory) && utimesSync(directory, new Date(), new Date()), 2000);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    rmSync(directory, { recursive: true, force: true });
  }
}

function take(directory) {
  mkdirSync(path.dirname(directory), { recursive: true });
  if (failure(() => mkdirSync(directory), 'EEXIST')) {
    // Of several processes that find it stale, one succeeds in moving it away; then all try to take it again.
    const away = `${directory}.${process.pid}`;
    if (isStale(directory) && !failure(() => renameSync(directory, away), 'ENOENT')) rmSync(away, { recursive: true, force: true });
    return false;
  }
  writeFileSync(path.join(directory, 'pid'), String(process.pid));
  return true;
}

/** Whether the holder of a lock is gone. Without a readable id, only its silence tells. */
export function isStale(directory, now = Date.now()) {
  const touched = statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? now;
  let pid = 0; // just taken, half written or just given back
  failure(() => { pid = Number(readFileSync(path.join(directory, 'pid'), 'utf8')); }, 'ENOENT');
  return now - touched > silentMs || (pid > 0 && failure(() => process.kill(pid, 0), 'ESRCH', 'EPERM') === 'ESRCH');
}

/** Which of these errors something failed with, if it did. */
function failure(work, ...codes) {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!codes.includes(error.code)) throw error;
    return error.code;
  }
}
