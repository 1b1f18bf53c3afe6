import { once } from 'node:events';
import { chmod, readdir, rm } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import type { Logger } from 'pino';
import { errnoOf, messageOf } from '../../wire/system-error.ts';
import { makeRuntimeDirectory } from './runtime-directory.ts';
import { type Snapshot, snapshotSchema } from './snapshot.ts';

/** Timeout of a connection, in ms. */
const TIMEOUT_MS = 5000;
/** The most connections at once. */
const MOST_ASKERS = 16;
/** The most bytes of an answer that are read. */
const MAX_ANSWER = 16 * 1024 * 1024;

const onWindows = process.platform === 'win32';
const socketName = /^adit-agent-\d+(\.sock)?$/;

function placeOf(directory: string, pid: number): string {
  return onWindows ? `\\\\.\\pipe\\adit-agent-${pid}` : path.join(directory, `adit-agent-${pid}.sock`);
}

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
      await makeRuntimeDirectory(directory);
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

/** Requests the snapshots of all running agents of this user. */
export async function askAgents(directory: string): Promise<Snapshot[]> {
  const answers = await Promise.all((await places(directory)).map(ask));
  return answers.filter((answer) => answer !== undefined).toSorted((one, other) => one.pid - other.pid);
}

async function places(directory: string): Promise<string[]> {
  const folder = onWindows ? '\\\\.\\pipe\\' : directory;
  try {
    return (await readdir(folder)).filter((name) => socketName.test(name)).map((name) => path.join(folder, name));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** undefined = no agent answers */
async function ask(place: string): Promise<Snapshot | undefined> {
  const socket = net.connect(place);
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`${place} does not answer`)));
  let text = '';
  try {
    socket.setEncoding('utf8');
    for await (const piece of socket) {
      text += String(piece);
      if (text.length > MAX_ANSWER) throw new Error(`${place} sent too long an answer`);
    }
  } catch (error) {
    const gone = errnoOf(error) === 'ECONNREFUSED' || errnoOf(error) === 'ENOENT';
    if (!gone) throw error;
    // The agent's process was killed.
    if (!onWindows) await rm(place, { force: true });
    return undefined;
  }
  return snapshotSchema.parse(JSON.parse(text));
}
