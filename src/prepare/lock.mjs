import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { say } from './run.mjs';

/** A holder shows every 2 s that it is alive; one that was silent for this long has ended, or its id belongs to another. */
const silentMs = 30_000;

/**
 * Does something that two processes must not do to one checkout at a time, such as installing packages. Another process
 * that holds the lock is waited for; a lock whose holder has died is taken over.
 * @template T
 * @param {string} directory the lock: it exists while somebody holds it
 * @param {() => Promise<T>} work
 * @param {{pollMs?: number, onWait?: () => void}} options `onWait` is called once, when somebody else is inside
 * @returns {Promise<T>}
 */
export async function withLock(directory, work, { pollMs = 200, onWait = () => say('waiting for another adit command that prepares this checkout ...') } = {}) {
  if (!take(directory)) {
    onWait();
    do await delay(pollMs);
    while (!take(directory));
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
  try {
    mkdirSync(directory);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (!isStale(directory)) return false;
    // Of several that find it stale one succeeds in moving it away; then all try to take it anew.
    removeStale(directory);
    return false;
  }
  writeFileSync(path.join(directory, 'pid'), String(process.pid));
  return true;
}

function removeStale(directory) {
  const away = `${directory}.${process.pid}`;
  try {
    renameSync(directory, away);
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  rmSync(away, { recursive: true, force: true });
}

/** Whether the holder of a lock is gone. Without a readable id, only its silence tells. */
export function isStale(directory, now = Date.now()) {
  try {
    if (now - statSync(directory).mtimeMs > silentMs) return true;
    return !isAlive(Number(readFileSync(path.join(directory, 'pid'), 'utf8')));
  } catch (error) {
    if (error.code === 'ENOENT') return false; // just taken or just given back
    throw error;
  }
}

function isAlive(pid) {
  if (!(pid > 0)) return true; // half written
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}
