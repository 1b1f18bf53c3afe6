import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import net from 'node:net';
import process from 'node:process';
import type { Logger } from 'pino';
import { messageOf } from '../../wire/system-error.ts';
import { makeRuntimeDirectory } from './runtime-directory.ts';
import type { Snapshot } from './snapshot-schema.ts';
import { onWindows, placeOf } from './status-place.ts';

/** Timeout of a connection, in ms. */
const TIMEOUT_MS = 5000;
/** The most connections at once. */
const MOST_ASKERS = 16;

/**
 * Answers `adit agent --status` on a socket that only this user can open: each connection gets the snapshot as JSON. If the socket cannot be
 * opened, the agent logs that and runs without it.
 * @returns the way to close it
 */
export async function serveStatus(directory: string, snapshot: () => Promise<Snapshot>, log: Logger): Promise<() => Promise<void>> {
  const server = net.createServer((socket) => {
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
    socket.on('error', () => socket.destroy()); // the client is gone
    socket.resume();
    snapshot().then((answer) => socket.end(JSON.stringify(answer)), (error: unknown) => {
      log.error({ err: error }, 'the state could not be sent');
      socket.destroy();
    });
  });
  server.maxConnections = MOST_ASKERS;
  const place = placeOf(directory, process.pid);
  try {
    if (!onWindows) {
      makeRuntimeDirectory(directory);
      // Left behind by an earlier process with this id.
      await rm(place, { force: true });
    }
    server.listen(place);
    await once(server, 'listening');
    if (!onWindows) await chmod(place, 0o600);
  } catch (error) {
    log.warn(`adit agent --status will not find this agent: ${messageOf(error)}`);
    server.close();
    return () => Promise.resolve();
  }
  server.unref();
  return async () => {
    server.close();
    if (!onWindows) await rm(place, { force: true });
  };
}
