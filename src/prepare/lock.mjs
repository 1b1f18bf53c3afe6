import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { say } from './run.mjs';

/** A holder renews its lock every 2 s. After this many ms without renewal, the holder has ended, even if another process has its id. */
const silentMs = 30_000;

/**
 * Runs work that only one process may do in a checkout at a time, such as installing packages. Waits while another process holds
 * the lock, which is a directory; takes over the lock of a dead process. Node has no lock that is released when its process ends.
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
    // If several processes find the lock stale, one succeeds in moving it; then all try again to take it.
    const away = `${directory}.${process.pid}`;
    if (isStale(directory) && !failure(() => renameSync(directory, away), 'ENOENT')) rmSync(away, { recursive: true, force: true });
    return false;
  }
  writeFileSync(path.join(directory, 'pid'), String(process.pid));
  return true;
}

/** Whether a lock's holder has ended. Without a readable process id, only the last renewal counts. */
export function isStale(directory, now = Date.now()) {
  const touched = statSync(directory, { throwIfNoEntry: false })?.mtimeMs ?? now;
  let pid = 0; // just taken or released, or partly written
  failure(() => {
    pid = Number(readFileSync(path.join(directory, 'pid'), 'utf8'));
  }, 'ENOENT');
  return now - touched > silentMs || (pid > 0 && failure(() => process.kill(pid, 0), 'ESRCH', 'EPERM') === 'ESRCH');
}

/** The error code of `work`, one of `codes`; undefined = no error. */
function failure(work, ...codes) {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!codes.includes(error.code)) throw error;
    return error.code;
  }
}
